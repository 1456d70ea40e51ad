package checkpoints

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/stria-ml/stria/models/vit"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

// ViTLoadOptions are LoadViT's choices; the zero value makes Float32 weights
// that can be trained, for images of the checkpoint's size.
type ViTLoadOptions struct {
	// DType of the model's weights, Float32 or Float64.
	DType tensor.DType
	// Share leaves weights in the mapped file where it has them in the model's
	// dtype: quick, but for inference only, as they cannot be written.
	Share bool
	// ImageSize, unless zero, is what the model shall take; positions are
	// interpolated to it, and a note says so.
	ImageSize nn.Size
	// Dropout, unless zero, takes the place of the config's hidden_dropout_prob.
	Dropout float64
	// MaxParameters is that of vit.Options.
	MaxParameters int
}

// LoadViT loads a vision transformer in Hugging Face's layout from a folder, or
// from a single .safetensors file with its config.json beside it; of a run's
// folder, its newest checkpoint. A ViTForImageClassification has names that begin
// with vit, and a classifier; a bare ViTModel has neither. Tensors that are
// missing, unknown or of other shapes are errors that name them. Those that
// classifying has no use for, a pooler's and a mask token, are left out, and a
// note in the Report says so.
func LoadViT(path string, o ViTLoadOptions) (*vit.Model, Report, error) {
	c, err := openViT(path)
	if err != nil {
		return nil, Report{}, err
	}
	defer c.Close()
	report := Report{Path: c.Path(), Notes: c.notes}
	if err := c.checkSizes(); err != nil {
		return nil, report, fmt.Errorf("%s: %w", c.Path(), err)
	}
	config := c.config
	if o.Dropout != 0 {
		config.HiddenDropoutProb = o.Dropout
	}
	m, err := vit.New(config, vit.Options{DType: o.DType, MaxParameters: o.MaxParameters})
	if err != nil {
		return nil, report, fmt.Errorf("%s: %w", c.configPath, err)
	}
	if err := c.fill(m, o.Share, &report); err != nil {
		return nil, report, err
	}
	if o.ImageSize != (nn.Size{}) && o.ImageSize != config.ImageSize {
		if err := m.Resize(o.ImageSize); err != nil {
			return nil, report, fmt.Errorf("%s: %w", c.configPath, err)
		}
		report.Notes = append(report.Notes, fmt.Sprintf("images of %v instead of %v: positions interpolated from a grid of %v to %v",
			o.ImageSize, config.ImageSize, config.Grid(), m.Config.Grid()))
	}
	return m, report, nil
}

// RestoreViT fills a model that exists, such as one that an optimizer already
// works on, from a checkpoint of it. Where config.json describes another model,
// that is an error, and nothing is written.
func RestoreViT(m *vit.Model, path string) (Report, error) {
	c, err := openViT(path)
	if err != nil {
		return Report{}, err
	}
	defer c.Close()
	report := Report{Path: c.Path(), Notes: c.notes}
	have, want := c.config, m.Config
	have.DType, want.DType = "", ""
	if !reflect.DeepEqual(have, want) {
		return report, fmt.Errorf("%s describes another model: %+v, want %+v", c.configPath, have, want)
	}
	err = c.fill(m, false, &report)
	return report, err
}

// SaveViT writes a model's folder, with Hugging Face's names, as SaveGQA does.
func SaveViT(dir string, m *vit.Model, o SaveOptions) error {
	if o.Layout != (Layout{}) {
		return fmt.Errorf("save %s: a vision transformer has no layout but Hugging Face's, found %v", dir, o.Layout)
	}
	config := m.Config
	config.DType = o.dtype(m.Norm.Weight.Value)
	return o.save(dir, ViTSlots(m), config, nil)
}

// vitCheckpoint is a vision transformer's weights and their config.
type vitCheckpoint struct {
	*weights
	config vit.Config
}

func openViT(path string) (*vitCheckpoint, error) {
	w, err := openWeights(path)
	if err != nil {
		return nil, err
	}
	config, err := vit.ReadConfig(w.configPath)
	if err != nil {
		w.Close()
		return nil, err
	}
	return &vitCheckpoint{w, config}, nil
}

// checkSizes compares all sizes in the config with the weights, so that a wrong
// config cannot ask for more memory than the weights warrant.
func (c *vitCheckpoint) checkSizes() error {
	config, width := c.config, c.config.HiddenSize
	name := vitNamer(config.Classes() == 0)
	slots := []Slot{
		{Name: name("vit.embeddings.position_embeddings"), Shape: []int{1, config.Tokens(), width}},
		{Name: name("vit.embeddings.patch_embeddings.projection.weight"),
			Shape: []int{width, config.NumChannels, config.PatchSize.Height, config.PatchSize.Width}},
	}
	if classes := config.Classes(); classes > 0 {
		slots = append(slots, Slot{Name: "classifier.weight", Shape: []int{classes, width}})
	}
	for i := range config.NumHiddenLayers {
		layer := fmt.Sprintf("vit.encoder.layer.%d.", i)
		slots = append(slots,
			Slot{Name: name(layer + "self_attn.k_proj.weight"), Shape: []int{config.NumKeyValueHeads * config.HeadWidth(), width}},
			Slot{Name: name(layer + "mlp.fc1.weight"), Shape: []int{config.IntermediateSize, width}})
	}
	return join(checkSlots(slots, c))
}

// fill gives the model its weights, and the report what was done.
func (c *vitCheckpoint) fill(m *vit.Model, share bool, report *Report) (err error) {
	report.Filled, err = Fill(ViTSlots(m), c, FillOptions{Share: share, Check: c.unused})
	if err == nil && len(report.Filled.Checked) > 0 {
		report.Notes = append(report.Notes, "not used: "+strings.Join(report.Filled.Checked, ", "))
	}
	return err
}

// unused knows the tensors that files may have, and that classifying images has
// no use for.
func (c *vitCheckpoint) unused(name string, src Source) (known bool, err error) {
	parameter := name
	if c.config.Classes() == 0 {
		parameter = "vit." + name
	}
	dims, known := map[string]int{"vit.pooler.dense.weight": 2, "vit.pooler.dense.bias": 1, "vit.embeddings.mask_token": 3}[parameter]
	if !known {
		return false, nil
	}
	info, _ := src.Info(name)
	if len(info.Shape) != dims || dims > 1 && info.Shape[dims-1] != c.config.HiddenSize {
		return true, tensorError(ErrContradiction, name, "has shape %v, want %d dims, the last of hidden_size %d", info.Shape, dims, c.config.HiddenSize)
	}
	return true, nil
}
