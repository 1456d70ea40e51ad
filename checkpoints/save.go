package checkpoints

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"github.com/stria-ml/stria/checkpoints/safetensors"
	"github.com/stria-ml/stria/internal/atomicfile"
	"github.com/stria-ml/stria/models/gqa"
	"github.com/stria-ml/stria/tensor"
)

// SaveOptions are choices of SaveGQA and SaveViT; the zero value writes one
// file, in Hugging Face's layout and the weights' own dtype.
type SaveOptions struct {
	// Layout of the written weights. A ViT's have but the zero value.
	Layout Layout
	// DType of the written weights: Float32, Float64, Float16 or BFloat16; nil for
	// their own. Weights beyond its range are an error.
	DType *tensor.DType
	// MaxShardBytes is how much data a file holds at most, unless one tensor has
	// more; 0 for all in one file.
	MaxShardBytes int
	// Metadata is written to the files beside what Stria itself notes there.
	Metadata map[string]string
}

// SaveGQA writes a model's folder: config.json, which says the layout, and
// model.safetensors or shards of it. A folder that does not exist appears whole
// or not at all. One that exists may hold other files, but no model.
func SaveGQA(dir string, m *gqa.Model, o SaveOptions) error {
	if err := headsOf(m.Config).check(o.Layout); err != nil {
		return fmt.Errorf("save %s: %w", dir, err)
	}
	c := m.Config
	c.HeadOrder, c.RopeLayout = o.Layout.Heads, o.Layout.Rotary
	c.DType = o.dtype(m.Embed.Weight.Value)
	layout := map[string]string{headsKey: o.Layout.Heads.String(), rotaryKey: o.Layout.Rotary.String()}
	return o.save(dir, gqaSlots(m, o.Layout), c, layout)
}

// dtype returns the name of what weights are written in.
func (o SaveOptions) dtype(weight *tensor.Tensor) string {
	if o.DType != nil {
		return o.DType.String()
	}
	return weight.DType().String()
}

// save writes a model's folder, with notes in the files' metadata.
func (o SaveOptions) save(dir string, slots []Slot, config json.Marshaler, notes map[string]string) error {
	tensors, text, err := o.prepare(slots, config)
	if err != nil {
		return fmt.Errorf("save %s: %w", dir, err)
	}
	write := func(dir string) error { return o.write(dir, tensors, text, notes) }
	_, err = os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return atomicfile.WriteDir(dir, write)
	case err != nil:
		return err
	case isModelFolder(dir) || exists(filepath.Join(dir, configFile)):
		return fmt.Errorf("save %s: the folder holds a model already; choose another", dir)
	}
	return write(dir)
}

// prepare returns what is to be written.
func (o SaveOptions) prepare(slots []Slot, config json.Marshaler) (tensors []safetensors.Named, text []byte, err error) {
	if o.DType != nil && !o.DType.IsFloat() {
		return nil, nil, fmt.Errorf("weights cannot be %v, want float32, float64, float16 or bfloat16", *o.DType)
	}
	if tensors, err = Collect(slots, o.DType); err != nil {
		return nil, nil, err
	}
	text, err = json.MarshalIndent(config, "", "  ")
	return tensors, text, err
}

// write writes a model's files; config.json, without which nothing can be
// loaded, comes last.
func (o SaveOptions) write(dir string, tensors []safetensors.Named, config []byte, notes map[string]string) error {
	metadata := map[string]string{"format": "pt"} // which Hugging Face's libraries ask for
	maps.Copy(metadata, o.Metadata)
	maps.Copy(metadata, notes)
	if err := safetensors.SaveFolder(dir, tensors, metadata, o.MaxShardBytes); err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dir, configFile), func(w io.Writer) error {
		_, err := w.Write(append(config, '\n'))
		return err
	})
}
