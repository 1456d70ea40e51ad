package train

import (
	"encoding/json"
	"fmt"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/checkpoints"
	"github.com/stria-ml/stria/datasets"
	"github.com/stria-ml/stria/internal/strictjson"
	"github.com/stria-ml/stria/models/gqa"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/optim"
	"github.com/stria-ml/stria/tensor"
	"github.com/stria-ml/stria/tokenizer"
)

// GQA is the Task of training a GQA language model on sums or on a text.
type GQA struct {
	options GQAOptions
	corpus  *corpus
	model   *gqa.Model
	device  tensor.Device
	loader  *datasets.Loader
	slots   []batch // of a step
	eval    *evaluator
	notes   []string // about the checkpoint that the model came from
}

// batch is a batch's memory, used again and again.
type batch struct {
	inputs, targets       *tensor.Tensor // (B, T), over the slices
	inputData, targetData []int64
}

func newBatch(rows, context int) batch {
	b := batch{inputData: make([]int64, rows*context), targetData: make([]int64, rows*context)}
	b.inputs = tensor.Wrap(b.inputData, rows, context)
	b.targets = tensor.Wrap(b.targetData, rows, context)
	return b
}

// count returns how many targets count.
func (b batch) count() int {
	n := 0
	for _, target := range b.targetData {
		if target != datasets.IgnoreIndex {
			n++
		}
	}
	return n
}

// NewGQA returns the task of the options, with a new model, or the one of
// options.InitFrom.
func NewGQA(options GQAOptions) (*GQA, error) {
	if err := options.Check(); err != nil {
		return nil, err
	}
	device, err := tensor.OpenDevice(options.Device)
	if err != nil {
		return nil, err
	}
	g := &GQA{options: options, device: device}
	if options.InitFrom != "" {
		err = g.initFrom(options.InitFrom)
	} else {
		err = g.initNew()
	}
	if err != nil {
		return nil, err
	}
	if err := options.checkTokens(g.corpus.train.Context()); err != nil {
		return nil, err
	}
	nn.ToDevice(g.model, device)
	g.loader, err = datasets.NewLoader(g.corpus.train, datasets.LoaderConfig{BatchSize: options.Batch, Seed: options.Train.Seed})
	if err != nil {
		return nil, err
	}
	for range options.Train.Accumulate {
		g.slots = append(g.slots, newBatch(options.Batch, g.loader.Context()))
	}
	g.eval, err = newEvaluator(g.model, g.corpus.heldOut, options.EvalBatch, g.corpus.addition != nil)
	return g, err
}

// initNew draws a new model for the data.
func (g *GQA) initNew() (err error) {
	if g.corpus, err = openCorpus(g.options, nil); err != nil {
		return err
	}
	config := g.options.model(g.corpus.tokenizer.Size(), g.corpus.positions(), g.corpus.end)
	g.model, err = gqa.New(config, gqa.Options{
		Random: tensor.NewStream(g.options.Train.Seed).Split("weights"), Initialization: g.options.initialization(),
		Dropout: g.options.Dropout, DType: tensor.Float32,
	})
	return err
}

// initFrom takes the model and the tokenizer of a checkpoint.
func (g *GQA) initFrom(path string) error {
	o, err := loadOptions(g.options.FromHeads, g.options.FromRotary)
	if err != nil {
		return err
	}
	o.Dropout = g.options.Dropout
	model, report, err := checkpoints.LoadGQA(path, o)
	if err != nil {
		return err
	}
	g.model, g.notes = model, report.Notes
	model.Config.DType = "float32" // as it is from now on
	dir := folderOf(report.Path)
	tok, err := loadTokenizer(dir)
	if err != nil {
		return err
	}
	if g.corpus, err = openCorpus(g.options, tok); err != nil {
		return err
	}
	if tok == nil && g.corpus.tokenizer.Size() != g.model.Config.VocabSize {
		return fmt.Errorf("%s: it has no tokenizer, its vocabulary has %d tokens, the data's %d",
			dir, g.model.Config.VocabSize, g.corpus.tokenizer.Size())
	}
	if tok != nil {
		if err := sameTokenizer(tok, g.corpus.tokenizer); err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
	}
	if have, want := g.model.Config.MaxPositionEmbeddings, g.corpus.train.Context(); have < want {
		return fmt.Errorf("%s: the model's context is %d tokens, the data needs %d", dir, have, want)
	}
	return nil
}

// Kind returns "gqa".
func (g *GQA) Kind() string { return "gqa" }

// Model returns the model.
func (g *GQA) Model() *gqa.Model { return g.model }

// Tokenizer returns the tokenizer of the data.
func (g *GQA) Tokenizer() tokenizer.Tokenizer { return g.corpus.tokenizer }

// Params lists the model's parameters.
func (g *GQA) Params() []optim.NamedParam { return optim.ParamsOf(g.model) }

// Draw brings the next training batch into a slot.
func (g *GQA) Draw(slot int) (tokens, targets int, err error) {
	b := g.slots[slot]
	if err := g.loader.Next(b.inputData, b.targetData); err != nil {
		return 0, 0, err
	}
	return len(b.inputData), b.count(), nil
}

// Loss records the loss of a slot's batch.
func (g *GQA) Loss(c *nn.Context, slot int, divisor float64) *autograd.Var {
	b := g.slots[slot]
	return g.model.Loss(c, b.inputs, b.targets, nn.LossOptions{IgnoreIndex: datasets.IgnoreIndex, Divisor: divisor})
}

// Position returns the loader's state.
func (g *GQA) Position() (json.RawMessage, error) { return json.Marshal(g.loader.State()) }

// SetPosition restores the loader's state.
func (g *GQA) SetPosition(position json.RawMessage) error {
	var state datasets.LoaderState
	if err := strictjson.Decode(position, &state); err != nil {
		return err
	}
	return g.loader.Restore(state)
}

// Save writes the model and its tokenizer.
func (g *GQA) Save(dir string) error {
	if err := checkpoints.SaveGQA(dir, g.model, checkpoints.SaveOptions{}); err != nil {
		return err
	}
	return saveTokenizer(dir, g.corpus.tokenizer)
}

// Load reads the model's weights. In a run's folder, the model must be that of
// the run's config.json.
func (g *GQA) Load(dir string) error {
	if err := sameModel(dir, g.model.Config, gqa.ReadConfig); err != nil {
		return err
	}
	_, err := checkpoints.RestoreGQA(g.model, dir)
	return err
}
