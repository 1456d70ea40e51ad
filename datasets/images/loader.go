package images

import (
	"fmt"
	"math"

	"github.com/stria-ml/stria/internal/seeded"
)

// LoaderConfig configures a [Loader].
type LoaderConfig struct {
	BatchSize     int    // images a batch, B
	Seed          uint64 // of the order of the images and of the augmentation
	Normalization Normalization
	Augmentation  Augmentation
}

// Loader draws training batches from a [Source] without end: every image once an
// epoch, in an order that is new every epoch. A batch that reaches the end of an
// epoch goes on in the next one, so every batch is full. The n-th image drawn,
// with its augmentation, is a function of the seed and n alone. A Loader belongs
// to one goroutine.
type Loader struct {
	source    Source
	config    LoaderConfig
	order     *seeded.Epochs
	levels    levels
	augmenter *augmenter
	pixels    []uint8 // (C, H, W), an image of the source
	batches   uint64  // drawn so far
}

// NewLoader returns a loader at the start of its sequence of batches. A source
// without images is an error of kind [ErrEmpty]; a batch size below 1, a
// normalization for other channels and an augmentation out of range are
// [ErrConfig].
func NewLoader(source Source, config LoaderConfig) (*Loader, error) {
	if err := checkBatch(source, config.BatchSize); err != nil {
		return nil, err
	}
	shape := source.Shape()
	if source.Len() < 1 {
		return nil, &Error{Kind: ErrEmpty, Field: source.ID(), Want: "at least 1 image", Found: "without images"}
	}
	if err := config.Normalization.Check(shape.Channels); err != nil {
		return nil, err
	}
	if err := config.Augmentation.Check(shape); err != nil {
		return nil, err
	}
	return &Loader{
		source:    source,
		config:    config,
		order:     seeded.NewEpochs(seeded.New(config.Seed, forOrder), source.Len()),
		levels:    config.Normalization.levels(),
		augmenter: newAugmenter(config.Augmentation, shape, config.Seed),
		pixels:    make([]uint8, shape.Elements()),
	}, nil
}

// Next writes the next batch into pixels: (B, C, H, W), normalized, and its
// labels: (B). Slices of another length are an error of kind [ErrConfig], and
// leave the position as it was. Next allocates nothing.
func (l *Loader) Next(pixels []float32, labels []int64) error {
	if err := checkBuffers(l.source, l.config.BatchSize, pixels, labels); err != nil {
		return err
	}
	size := len(l.pixels)
	first := l.batches * uint64(l.config.BatchSize)
	for b := range l.config.BatchSize {
		position := first + uint64(b)
		labels[b] = int64(l.source.Example(l.order.At(position), l.pixels))
		l.levels.apply(pixels[b*size:(b+1)*size], l.augmenter.apply(l.pixels, position))
	}
	l.batches++
	return nil
}

// Source returns the source that the loader draws from.
func (l *Loader) Source() Source { return l.source }

// BatchSize returns B, the number of images in a batch.
func (l *Loader) BatchSize() int { return l.config.BatchSize }

// Batches returns the number of batches drawn so far.
func (l *Loader) Batches() uint64 { return l.batches }

// Epoch returns the number of images drawn so far over the number that the
// source has. Its whole part is the number of epochs done.
func (l *Loader) Epoch() float64 {
	return float64(l.batches) * float64(l.config.BatchSize) / float64(l.source.Len())
}

// LoaderState is the position of a [Loader], ready for JSON. All but Batches
// says which loader it belongs to.
type LoaderState struct {
	Dataset      string       `json:"dataset"`
	Seed         uint64       `json:"seed"`
	BatchSize    int          `json:"batch_size"`
	Augmentation Augmentation `json:"augmentation"`
	Batches      uint64       `json:"batches"` // drawn before this position
}

// State returns the loader's position.
func (l *Loader) State() LoaderState {
	return LoaderState{
		Dataset:      l.source.ID(),
		Seed:         l.config.Seed,
		BatchSize:    l.config.BatchSize,
		Augmentation: l.config.Augmentation,
		Batches:      l.batches,
	}
}

// Restore moves the loader to the position of state: the batches that follow
// are those that followed when the state was taken. The state of a loader of
// other data, seed, batch size or augmentation is an error of kind [ErrState],
// and leaves the position as it was.
func (l *Loader) Restore(state LoaderState) error {
	own := l.State()
	for _, field := range []struct {
		name        string
		state, want any
	}{
		{"dataset", state.Dataset, own.Dataset},
		{"seed", state.Seed, own.Seed},
		{"batch size", state.BatchSize, own.BatchSize},
		{"augmentation", state.Augmentation, own.Augmentation},
	} {
		if field.state != field.want {
			return &Error{Kind: ErrState, Field: field.name, Want: fmt.Sprint(field.want), Found: fmt.Sprint(field.state)}
		}
	}
	if limit := math.MaxUint64 / uint64(own.BatchSize); state.Batches >= limit {
		return &Error{Kind: ErrState, Field: "number of batches", Want: fmt.Sprintf("below %d", limit), Found: fmt.Sprint(state.Batches)}
	}
	l.batches = state.Batches
	return nil
}

// checkBatch refuses sizes whose batch has no elements, or too many to count.
func checkBatch(source Source, batchSize int) error {
	if source == nil {
		return &Error{Kind: ErrConfig, Field: "source", Want: "images", Found: "nil"}
	}
	if err := source.Shape().check(); err != nil {
		return err
	}
	if batchSize < 1 || batchSize > math.MaxInt/source.Shape().Elements() {
		return &Error{Kind: ErrConfig, Field: "batch size", Want: "at least 1, and a batch that can be counted", Found: fmt.Sprint(batchSize)}
	}
	return nil
}

func checkBuffers(source Source, batchSize int, pixels []float32, labels []int64) error {
	if n := batchSize * source.Shape().Elements(); len(pixels) != n || len(labels) != batchSize {
		return &Error{
			Kind: ErrConfig, Field: "room for a batch", Want: fmt.Sprintf("%d values and %d labels", n, batchSize),
			Found: fmt.Sprintf("%d and %d", len(pixels), len(labels)),
		}
	}
	return nil
}
