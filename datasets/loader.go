package datasets

import (
	"errors"
	"fmt"
	"math"
)

// LoaderConfig configures a [Loader].
type LoaderConfig struct {
	BatchSize int    // examples a batch, B
	Seed      uint64 // of the order of the examples
}

// Loader draws training batches from a [Source] without end. In the Shuffled
// order a batch that reaches the end of an epoch goes on in the next one, so
// every batch is full. A Loader belongs to one goroutine.
type Loader struct {
	source  Source
	config  LoaderConfig
	sampler sampler
	batches uint64 // drawn so far
}

// NewLoader returns a loader at the start of its sequence of batches. A source
// without examples and a batch size below 1 are errors.
func NewLoader(source Source, config LoaderConfig) (*Loader, error) {
	if err := checkBatch(source, config.BatchSize); err != nil {
		return nil, err
	}
	if source.Len() < 1 {
		return nil, fmt.Errorf("datasets: %s has no examples to train on", source.ID())
	}
	return &Loader{
		source:  source,
		config:  config,
		sampler: newSampler(source.Len(), source.Order(), config.Seed),
	}, nil
}

// Next writes the next batch into inputs: (B, T) and targets: (B, T), row by
// row. Slices of another length than B·T are an error, and leave the position
// as it was. Next allocates nothing.
func (l *Loader) Next(inputs, targets []int64) error {
	if err := checkBuffers(l.source, l.config.BatchSize, inputs, targets); err != nil {
		return err
	}
	width := l.source.Context()
	first := l.batches * uint64(l.config.BatchSize)
	for b := range l.config.BatchSize {
		row := l.sampler.index(first + uint64(b))
		l.source.Example(row, inputs[b*width:(b+1)*width], targets[b*width:(b+1)*width])
	}
	l.batches++
	return nil
}

// Source returns the source that the loader draws from.
func (l *Loader) Source() Source { return l.source }

// BatchSize returns B, the number of examples in a batch.
func (l *Loader) BatchSize() int { return l.config.BatchSize }

// Context returns T, the number of tokens in an example.
func (l *Loader) Context() int { return l.source.Context() }

// Batches returns the number of batches drawn so far.
func (l *Loader) Batches() uint64 { return l.batches }

// Epoch returns the number of examples drawn so far over the number that the
// source has. For Shuffled sources its whole part is the number of epochs done.
func (l *Loader) Epoch() float64 {
	return float64(l.batches) * float64(l.config.BatchSize) / float64(l.source.Len())
}

// LoaderState is the position of a [Loader], ready for JSON. All but Batches
// says which loader it belongs to.
type LoaderState struct {
	Dataset   string `json:"dataset"`
	Seed      uint64 `json:"seed"`
	BatchSize int    `json:"batch_size"`
	Context   int    `json:"context"`
	Batches   uint64 `json:"batches"` // drawn before this position
}

// State returns the loader's position.
func (l *Loader) State() LoaderState {
	return LoaderState{
		Dataset:   l.source.ID(),
		Seed:      l.config.Seed,
		BatchSize: l.config.BatchSize,
		Context:   l.source.Context(),
		Batches:   l.batches,
	}
}

// Restore moves the loader to the position of state: the batches that follow
// are those that followed when the state was taken. The state of a loader of
// other data, seed, batch size or context is a [*StateError], and leaves the
// position as it was.
func (l *Loader) Restore(state LoaderState) error {
	own := l.State()
	for _, field := range []struct {
		name        string
		state, want any
	}{
		{"dataset", state.Dataset, own.Dataset},
		{"seed", state.Seed, own.Seed},
		{"batch size", state.BatchSize, own.BatchSize},
		{"context", state.Context, own.Context},
	} {
		if field.state != field.want {
			return &StateError{Field: field.name, Found: field.state, Want: field.want}
		}
	}
	if limit := math.MaxUint64 / uint64(own.BatchSize); state.Batches >= limit {
		return fmt.Errorf("datasets: the saved position has %d batches: the limit is %d", state.Batches, limit)
	}
	l.batches = state.Batches
	return nil
}

// StateError says that a saved position belongs to another loader.
type StateError struct {
	Field string // what differs: "dataset", "seed", "batch size" or "context"
	Found any    // its value in the state
	Want  any    // its value in the loader
}

// Error names the field and both values.
func (e *StateError) Error() string {
	return fmt.Sprintf("datasets: the saved position is of %s %v, and this loader is of %s %v", e.Field, e.Found, e.Field, e.Want)
}

// checkBatch refuses sizes whose batch has no elements, or too many to count.
func checkBatch(source Source, batchSize int) error {
	if source == nil {
		return errors.New("datasets: the source is nil")
	}
	if batchSize < 1 {
		return fmt.Errorf("datasets: batch size %d: want at least 1", batchSize)
	}
	context := source.Context()
	if context < 1 {
		return fmt.Errorf("datasets: context %d: want at least 1", context)
	}
	if batchSize > math.MaxInt/context {
		return fmt.Errorf("datasets: a batch of %d examples of %d tokens is too large to count", batchSize, context)
	}
	return nil
}

func checkBuffers(source Source, batchSize int, inputs, targets []int64) error {
	context := source.Context()
	if n := batchSize * context; len(inputs) != n || len(targets) != n {
		return fmt.Errorf("datasets: a batch of %d examples of %d tokens needs %d inputs and targets, not %d and %d",
			batchSize, context, n, len(inputs), len(targets))
	}
	return nil
}
