package train

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/checkpoints"
	"github.com/stria-ml/stria/datasets/images"
	"github.com/stria-ml/stria/internal/strictjson"
	"github.com/stria-ml/stria/models/vit"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/optim"
	"github.com/stria-ml/stria/tensor"
)

// ViT is the Task of training a vision transformer to classify images.
type ViT struct {
	options       ViTOptions
	splits        *imageSplits
	normalization images.Normalization
	model         *vit.Model
	loader        *images.Loader
	slots         []imageBatch // of a step
	notes         []string     // about the checkpoint that the model came from
}

// NewViT returns the task of the options, with a new model, or the one of
// options.InitFrom.
func NewViT(options ViTOptions) (*ViT, error) {
	if err := options.Check(); err != nil {
		return nil, err
	}
	device, err := tensor.OpenDevice(options.Device)
	if err != nil {
		return nil, err
	}
	v := &ViT{options: options}
	if options.InitFrom != "" {
		err = v.initFrom(options.InitFrom)
	} else {
		err = v.initNew()
	}
	if err != nil {
		return nil, err
	}
	if err := options.checkTokens(v.model.Config.Tokens()); err != nil {
		return nil, err
	}
	nn.ToDevice(v.model, device)
	v.loader, err = images.NewLoader(v.splits.train, images.LoaderConfig{
		BatchSize: options.Batch, Seed: options.Train.Seed, Normalization: v.normalization, Augmentation: options.Augmentation,
	})
	if err != nil {
		return nil, err
	}
	if err := v.checkMemory(); err != nil {
		return nil, err
	}
	for range options.Train.Accumulate {
		v.slots = append(v.slots, newImageBatch(options.Batch, v.splits.train.Shape()))
	}
	return v, nil
}

// checkMemory refuses batches, of training and of evaluation, that are too large
// for the machine.
func (v *ViT) checkMemory() error {
	for _, source := range [...]images.Source{v.splits.heldOut, v.splits.test} {
		if source == nil {
			continue
		}
		if err := checkImageBatches(1, evaluationRows(v.model, source, v.options.EvalBatch), source.Shape()); err != nil {
			return err
		}
	}
	return checkImageBatches(v.options.Train.Accumulate, v.options.Batch, v.splits.train.Shape())
}

// initNew draws a new model for the data.
func (v *ViT) initNew() (err error) {
	o := v.options
	if v.splits, err = openSplits(o, imageRequest{data: o.Data, size: o.ImageSize, channels: o.Channels}); err != nil {
		return err
	}
	v.model, err = vit.New(o.model(v.splits.train.Shape(), v.splits.train.Classes()), vit.Options{
		Random: v.weights(), Initialization: o.initialization(), DType: tensor.Float32,
	})
	if err != nil {
		return err
	}
	v.normalization, err = v.splits.normalization(o, nil)
	return err
}

func (v *ViT) weights() *tensor.Stream {
	return tensor.NewStream(v.options.Train.Seed).Split("weights")
}

// initFrom takes the model of a checkpoint, and fits it to the data.
func (v *ViT) initFrom(path string) error {
	o := v.options
	model, report, err := checkpoints.LoadViT(path, checkpoints.ViTLoadOptions{})
	if err != nil {
		return err
	}
	v.model, v.notes = model, report.Notes
	model.Config.DType = "float32" // as it is from now on
	setDropout(model, o.Dropout)
	stored, err := loadNormalization(folderOf(report.Path), model.Config.NumChannels)
	if err == nil && stored == nil && o.resumed {
		err = fmt.Errorf("%s: %w", filepath.Join(path, preprocessorFile), fs.ErrNotExist)
	}
	if err != nil {
		return err
	}
	if v.splits, err = openSplits(o, requestFor(model.Config, o.Data, o.ImageSize, o.Channels)); err != nil {
		return err
	}
	if v.normalization, err = v.splits.normalization(o, stored); err != nil {
		return err
	}
	return v.fit(v.splits.train.Shape(), v.splits.train.Classes())
}

// requestFor returns the request for images that a model takes, but for their
// size where the data has its own.
func requestFor(c vit.Config, data string, size ImageSize, channels int) imageRequest {
	if kind, _ := imageKind(data); size == (ImageSize{}) && fileSets[kind].open == nil {
		size = ImageSize(c.ImageSize)
	}
	return imageRequest{data: data, size: size, channels: channels, wanted: c.NumChannels}
}

// fit brings a model that was loaded to images of a shape and classes.
func (v *ViT) fit(shape images.Shape, classes []string) error {
	config := v.model.Config
	if shape.Channels != config.NumChannels {
		return fmt.Errorf("channels is %d, the model of the checkpoint has %d", shape.Channels, config.NumChannels)
	}
	if size := (nn.Size{Height: shape.Height, Width: shape.Width}); size != config.ImageSize {
		if err := v.model.Resize(size); err != nil {
			return err
		}
		v.notes = append(v.notes, fmt.Sprintf("images of %v instead of %v: positions interpolated from a grid of %v to %v",
			size, config.ImageSize, config.Grid(), v.model.Config.Grid()))
	}
	if slices.Equal(classes, config.Labels) {
		return nil
	}
	v.notes = append(v.notes, fmt.Sprintf("a new classifier: the checkpoint has %s, the data %s", named(config.Labels), named(classes)))
	return v.model.SetLabels(classes, v.weights().Split("classifier"), v.options.initialization())
}

// named shows some classes.
func named(classes []string) string {
	const shown = 10
	if len(classes) > shown {
		return fmt.Sprintf("%d classes, %q and others", len(classes), classes[:shown])
	}
	return fmt.Sprintf("%d classes, %q", len(classes), classes)
}

// setDropout makes dropout everywhere in a model what the options say.
func setDropout(m *vit.Model, p float64) {
	d := nn.Dropout{P: p}
	m.Config.HiddenDropoutProb, m.Embeddings.Dropout = p, d
	for _, block := range m.Blocks {
		block.Attention.Dropout, block.Dropout = d, d
	}
}

// Kind returns "vit".
func (v *ViT) Kind() string { return "vit" }

// Model returns the model.
func (v *ViT) Model() *vit.Model { return v.model }

// Normalization returns how pixels become the model's input.
func (v *ViT) Normalization() images.Normalization { return v.normalization }

// Params lists the model's parameters.
func (v *ViT) Params() []optim.NamedParam { return optim.ParamsOf(v.model) }

// Draw brings the next training batch into a slot; what it counts are images.
func (v *ViT) Draw(slot int) (read, targets int, err error) {
	b := v.slots[slot]
	err = v.loader.Next(b.pixelData, b.labelData)
	return len(b.labelData), len(b.labelData), err
}

// Loss records the loss of a slot's batch.
func (v *ViT) Loss(c *nn.Context, slot int, divisor float64) *autograd.Var {
	b := v.slots[slot]
	return v.model.Loss(c, b.input(c), b.labels, nn.LossOptions{
		IgnoreIndex: images.IgnoreIndex, Divisor: divisor, Smoothing: v.options.Smoothing,
	})
}

// Position returns the loader's state.
func (v *ViT) Position() (json.RawMessage, error) { return json.Marshal(v.loader.State()) }

// SetPosition restores the loader's state.
func (v *ViT) SetPosition(position json.RawMessage) error {
	var state images.LoaderState
	if err := strictjson.Decode(position, &state); err != nil {
		return err
	}
	return v.loader.Restore(state)
}

// Save writes the model and its normalization.
func (v *ViT) Save(dir string) error {
	if err := checkpoints.SaveViT(dir, v.model, checkpoints.SaveOptions{}); err != nil {
		return err
	}
	return saveNormalization(dir, v.normalization, v.splits.train.Shape())
}

// Load reads the model's weights. In a run's folder, the model must be that of
// the run's config.json.
func (v *ViT) Load(dir string) error {
	if err := sameModel(dir, v.model.Config, vit.ReadConfig); err != nil {
		return err
	}
	_, err := checkpoints.RestoreViT(v.model, dir)
	return err
}
