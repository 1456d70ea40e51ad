package train

import (
	"context"
	"fmt"
	"math"
	"path/filepath"

	"github.com/stria-ml/stria/checkpoints"
	"github.com/stria-ml/stria/datasets"
)

// EvalRequest asks for the measure of a stored model.
type EvalRequest struct {
	ModelSource
	Data    string // a text file, measured as a whole, or images; empty for those of the model's run
	Context int    // tokens in a window of a text; 0 for the model's context
	Batch   int    // windows or images at a time; 0 for about 4,096 tokens

	Split    string // of images: train, test, a range of one, or ValSplit; empty for the run's test split, or what it held out
	Channels int    // the model's: grey is repeated to them, colours are averaged; 0 for what the run did
	Figures  string // a folder that gets confusion.svg and confusion.json, or empty
}

// Check returns what is wrong with the choices themselves.
func (r EvalRequest) Check() error { return r.CheckNamed(asKey) }

// CheckNamed is Check for a reader who knows the choices by other names, such as
// flags.
func (r EvalRequest) CheckNamed(name func(key string) string) error {
	c := &checker{name: name}
	c.between("context", int64(r.Context), 0, math.MaxInt32)
	c.between("batch", int64(r.Batch), 0, math.MaxInt32)
	c.between("channels", int64(r.Channels), 0, 1024)
	if r.Split != "" && r.Split != ValSplit {
		if _, err := parseSplit(r.Split); err != nil {
			c.failf("%s: %w", c.name("split"), err)
		}
	}
	r.check(c)
	return c.err()
}

// Evaluate measures a stored model.
func Evaluate(ctx context.Context, r EvalRequest) (Evaluation, error) {
	family, err := checkpoints.FamilyOf(r.Path)
	switch {
	case err != nil:
		return Evaluation{}, err
	case family == checkpoints.FamilyViT:
		return r.evaluateImages(ctx)
	}
	return r.evaluateText(ctx)
}

// evaluateText measures a language model.
func (r EvalRequest) evaluateText(ctx context.Context) (Evaluation, error) {
	m, err := r.open()
	if err != nil {
		return Evaluation{}, err
	}
	if r.Split != "" || r.Channels != 0 || r.Figures != "" {
		return Evaluation{}, fmt.Errorf("%s: it is no vision transformer: there is no split, number of channels or confusion to choose", m.dir)
	}
	most := m.model.Config.MaxPositionEmbeddings
	if r.Context == 0 {
		r.Context = most
	}
	if r.Batch > maxBatchTokens/r.Context {
		return Evaluation{}, fmt.Errorf("a batch of %d windows of %d tokens is more than %d tokens", r.Batch, r.Context, maxBatchTokens)
	}
	if r.Context > most {
		return Evaluation{}, fmt.Errorf("context is %d, want 1 to %d, the model's", r.Context, most)
	}
	source, exact, err := r.source(m)
	if err != nil {
		return Evaluation{}, err
	}
	e, err := newEvaluator(m.model, source, r.Batch, exact)
	if err != nil {
		return Evaluation{}, err
	}
	return e.run(ctx)
}

// source returns what to measure the model on, and whether it has exact answers.
func (r EvalRequest) source(m *storedModel) (source datasets.Source, exact bool, err error) {
	if r.Data != "" && r.Data != AdditionData {
		text, err := datasets.OpenText(r.Data, datasets.TextConfig{Context: r.Context, Tokenizer: m.tokenizer})
		if err != nil {
			return nil, false, err
		}
		return text.WholeSource(), false, nil
	}
	options, err := ReadGQAOptions(filepath.Dir(filepath.Dir(m.dir)))
	if err != nil {
		return nil, false, fmt.Errorf("%s: it is no checkpoint of a run, so what was held out is not known; give a text file: %w", m.dir, err)
	}
	if r.Data == AdditionData && options.Data != AdditionData {
		return nil, false, fmt.Errorf("%s: the data is to be %s, and the run's is %s", m.dir, AdditionData, options.Data)
	}
	options.Context = r.Context
	c, err := openCorpus(options, m.tokenizer)
	if err != nil {
		return nil, false, err
	}
	if err := sameTokenizer(m.tokenizer, c.tokenizer); err != nil {
		return nil, false, err
	}
	return c.heldOut, c.addition != nil, nil
}
