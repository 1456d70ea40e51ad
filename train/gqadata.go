package train

import (
	"github.com/stria-ml/stria/datasets"
	"github.com/stria-ml/stria/tokenizer"
)

// corpus is what a GQA model is trained on and measured by.
type corpus struct {
	addition *datasets.Addition // or nil
	text     *datasets.Text     // or nil

	tokenizer tokenizer.Tokenizer
	train     datasets.Source
	heldOut   datasets.Source
	end       []int64 // tokens that end an answer
}

// openCorpus opens the data of the options. The text is encoded by the
// tokenizer, if one is given.
func openCorpus(o GQAOptions, tok tokenizer.Tokenizer) (*corpus, error) {
	if o.Data == AdditionData {
		return openAddition(o)
	}
	if tok == nil && o.Tokenizer == ByteTokenizer {
		tok = tokenizer.Bytes{}
	}
	text, err := datasets.OpenText(o.Data, datasets.TextConfig{Context: o.Context, ValFraction: o.ValFraction, Tokenizer: tok})
	if err != nil {
		return nil, err
	}
	return &corpus{text: text, tokenizer: text.Tokenizer(), train: text.TrainSource(), heldOut: text.ValidationSource()}, nil
}

func openAddition(o GQAOptions) (*corpus, error) {
	a, err := datasets.NewAddition(datasets.AdditionConfig{HeldOut: o.HeldOut, Seed: o.Train.Seed})
	if err != nil {
		return nil, err
	}
	return &corpus{
		addition: a, tokenizer: a.Tokenizer(), train: a.TrainSource(), heldOut: a.HeldOutSource(), end: []int64{a.End()},
	}, nil
}

// positions returns the tokens that the model has positions for: an answer's
// end comes one after what is trained on.
func (c *corpus) positions() int {
	if c.addition != nil {
		return c.train.Context() + 1
	}
	return c.train.Context()
}
