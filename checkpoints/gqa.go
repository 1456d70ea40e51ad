package checkpoints

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/stria-ml/stria/models/gqa"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

// LoadOptions are LoadGQA's choices; the zero value makes Float32 weights that
// can be trained.
type LoadOptions struct {
	// DType of the model's weights, Float32 or Float64.
	DType tensor.DType
	// FromHeads and FromRotary override what the files say about the weights'
	// layout, or nil.
	FromHeads  *nn.HeadOrder
	FromRotary *nn.RotaryLayout
	// Share leaves weights in the mapped file where it has them in the model's
	// dtype and layout: quick, but for inference only, as they cannot be written.
	Share bool
	// Dropout and MaxParameters are those of gqa.Options.
	Dropout       float64
	MaxParameters int
}

// Report is what was found while loading.
type Report struct {
	Path   string   // of the folder or file that the weights came from
	Layout Layout   // of the stored weights
	Origin Origin   // where the layout was learned
	Filled Filled   // what was copied and what is shared
	Notes  []string // what the user should hear about: an override, a layout that was assumed
}

// LoadGQA loads a model in Hugging Face's layout from a folder, or from a single
// .safetensors file with its config.json beside it; of a run's folder, its
// newest checkpoint. Weights in another head order or rotary layout are
// converted: the model's are in interleaved heads and half-split rotary. Where
// nothing says the order, Hugging Face's is assumed, and a note in the Report
// says so. Tensors that are missing, unknown or of other shapes are errors that
// name them.
func LoadGQA(path string, o LoadOptions) (*gqa.Model, Report, error) {
	c, err := openGQA(path)
	if err != nil {
		return nil, Report{}, err
	}
	defer c.Close()
	layout, report, err := c.begin(o)
	if err != nil {
		return nil, report, err
	}
	if err := c.checkSizes(); err != nil {
		return nil, report, fmt.Errorf("%s: %w", c.Path(), err)
	}
	m, err := gqa.New(c.modelConfig(), gqa.Options{DType: o.DType, Dropout: o.Dropout, MaxParameters: o.MaxParameters})
	if err != nil {
		return nil, report, fmt.Errorf("%s: %w", c.configPath, err)
	}
	report.Filled, err = fillGQA(m, layout, c.source, o.Share)
	if err != nil {
		return nil, report, err
	}
	return m, report, nil
}

// RestoreGQA fills a model that exists, such as one that an optimizer already
// works on, from a checkpoint of it. Where config.json describes another model,
// that is an error, and nothing is written.
func RestoreGQA(m *gqa.Model, path string) (Report, error) {
	c, err := openGQA(path)
	if err != nil {
		return Report{}, err
	}
	defer c.Close()
	layout, report, err := c.begin(LoadOptions{})
	if err != nil {
		return report, err
	}
	have, want := c.modelConfig(), m.Config
	have.DType, want.DType = "", ""
	want.HeadOrder, want.RopeLayout = have.HeadOrder, have.RopeLayout
	if !reflect.DeepEqual(have, want) {
		return report, fmt.Errorf("%s describes another model: %+v, want %+v", c.configPath, have, want)
	}
	report.Filled, err = fillGQA(m, layout, c.source, false)
	return report, err
}

// begin learns the layout of the stored weights.
func (c *checkpoint) begin(o LoadOptions) (Layout, Report, error) {
	report := Report{Path: c.Path(), Notes: c.notes}
	layout, origin, notes, err := c.layout(o)
	if err == nil {
		err = headsOf(c.config).check(layout)
	}
	if err != nil {
		return layout, report, fmt.Errorf("%s: %w", c.Path(), err)
	}
	notes = append(notes, headsOf(c.config).assumed(layout, origin)...)
	report.Layout, report.Origin, report.Notes = layout, origin, append(report.Notes, notes...)
	return layout, report, nil
}

// checkSizes compares all sizes in the config with the weights, so that a wrong
// config cannot ask for more memory than the weights warrant.
func (c *checkpoint) checkSizes() error {
	width, d := c.config.HiddenSize, c.config.HeadDim
	slots := []Slot{{Name: embeddingName, Shape: []int{c.config.VocabSize, width}}}
	for i := range c.config.NumHiddenLayers {
		layer := fmt.Sprintf("model.layers.%d.", i)
		slots = append(slots,
			Slot{Name: layer + "self_attn.q_proj.weight", Shape: []int{c.config.NumAttentionHeads * d, width}},
			Slot{Name: layer + "self_attn.k_proj.weight", Shape: []int{c.config.NumKeyValueHeads * d, width}},
			Slot{Name: layer + "mlp.gate_proj.weight", Shape: []int{c.config.IntermediateSize, width}})
	}
	return join(checkSlots(slots, c))
}

// modelConfig returns the config with the layout that models compute in.
func (c *checkpoint) modelConfig() gqa.Config {
	config := c.config
	config.HeadOrder, config.RopeLayout = nn.HeadsInterleaved, nn.RotaryHalf
	return config
}

func fillGQA(m *gqa.Model, l Layout, src Source, share bool) (Filled, error) {
	return Fill(gqaSlots(m, l), src, FillOptions{Share: share, Check: extras{m}.check})
}

func headsOf(c gqa.Config) heads {
	return heads{kv: c.NumKeyValueHeads, group: c.Group(), width: c.HeadDim}
}

// gqaSlots returns the slots of a model's weights in a layout.
func gqaSlots(m *gqa.Model, l Layout) []Slot {
	h := headsOf(m.Config)
	return Slots(m, func(s *Slot) {
		p := partOf(s.Name)
		if p == otherPart || l == (Layout{}) {
			return
		}
		s.FromFile = func(t *tensor.Tensor) *tensor.Tensor { return h.rearranged(t, p, l, Layout{}) }
		s.ToFile = func(t *tensor.Tensor) *tensor.Tensor { return h.rearranged(t, p, Layout{}, l) }
	})
}

// extras knows tensors that files may have beside the model's parameters.
type extras struct{ model *gqa.Model }

// check accepts a tied head, and the frequencies that old files keep, if they
// agree with the model's.
func (e extras) check(name string, src Source) (known bool, err error) {
	if name == headName && e.model.Config.TieWordEmbeddings {
		return true, e.checkHead(src)
	}
	for i, layer := range e.model.Layers {
		if name == fmt.Sprintf("model.layers.%d.self_attn.rotary_emb.inv_freq", i) {
			return true, checkFrequencies(layer.Attention.Rotary.Frequencies(), name, src)
		}
	}
	return false, nil
}

// The names of what may be tied.
const (
	headName      = "lm_head.weight"
	embeddingName = "model.embed_tokens.weight"
)

// checkHead refuses a tied head that is not the embedding.
func (e extras) checkHead(src Source) error {
	if _, ok := src.Info(embeddingName); !ok {
		return nil // which is reported for itself
	}
	head, err := src.Tensor(headName)
	if err != nil {
		return err
	}
	embedding, err := src.Tensor(embeddingName)
	if err != nil {
		return err
	}
	if !slices.Equal(head.Shape(), embedding.Shape()) {
		return tensorError(ErrContradiction, headName, "has shape %v, but %q, which it is tied to, has %v",
			head.Shape(), embeddingName, embedding.Shape())
	}
	wide := tensor.Float64 // holds any other number as it is
	if !bytes.Equal(tensor.Bytes(head.To(wide)), tensor.Bytes(embedding.To(wide))) {
		return tensorError(ErrContradiction, headName, "differs from %q, but config.json ties them (tie_word_embeddings)", embeddingName)
	}
	return nil
}

// checkFrequencies refuses rotary frequencies that are not those wanted. They
// may be stored as bfloat16, with 8 bits.
func checkFrequencies(want []float64, name string, src Source) error {
	stored, err := src.Tensor(name)
	if err != nil {
		return err
	}
	have := tensor.Data[float64](stored.To(tensor.Float64))
	if len(have) != len(want) {
		return tensorError(ErrContradiction, name, "has %d frequencies, the config gives %d", len(have), len(want))
	}
	for i := range want {
		if !(math.Abs(have[i]-want[i]) <= want[i]/128) {
			return tensorError(ErrContradiction, name, "has a frequency %d of %g, the config gives %g", i, have[i], want[i])
		}
	}
	return nil
}
