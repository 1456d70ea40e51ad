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

// SaveOptions are SaveGQA's choices; the zero value writes one file, in Hugging
// Face's layout and the weights' own dtype.
type SaveOptions struct {
	// Layout of the written weights.
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
	tensors, config, err := o.prepare(m)
	if err != nil {
		return fmt.Errorf("save %s: %w", dir, err)
	}
	write := func(dir string) error { return writeModel(dir, tensors, config, o) }
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
func (o SaveOptions) prepare(m *gqa.Model) (tensors []safetensors.Named, config []byte, err error) {
	if err := headsOf(m.Config).check(o.Layout); err != nil {
		return nil, nil, err
	}
	if o.DType != nil && !o.DType.IsFloat() {
		return nil, nil, fmt.Errorf("weights cannot be %v, want float32, float64, float16 or bfloat16", *o.DType)
	}
	if tensors, err = Collect(gqaSlots(m, o.Layout), o.DType); err != nil {
		return nil, nil, err
	}
	c := m.Config
	c.HeadOrder, c.RopeLayout = o.Layout.Heads, o.Layout.Rotary
	c.DType = m.Embed.Weight.Value.DType().String()
	if o.DType != nil {
		c.DType = o.DType.String()
	}
	config, err = json.MarshalIndent(c, "", "  ")
	return tensors, config, err
}

// writeModel writes a model's files; config.json, without which nothing can be
// loaded, comes last.
func writeModel(dir string, tensors []safetensors.Named, config []byte, o SaveOptions) error {
	metadata := map[string]string{"format": "pt"} // which Hugging Face's libraries ask for
	maps.Copy(metadata, o.Metadata)
	metadata[headsKey], metadata[rotaryKey] = o.Layout.Heads.String(), o.Layout.Rotary.String()
	if err := safetensors.SaveFolder(dir, tensors, metadata, o.MaxShardBytes); err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dir, configFile), func(w io.Writer) error {
		_, err := w.Write(append(config, '\n'))
		return err
	})
}
