package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/stria-ml/stria/datasets/images"
	"github.com/stria-ml/stria/internal/regularfile"
	"github.com/stria-ml/stria/internal/strictjson"
)

// preprocessorFile is the file of a model folder that says how pixels become
// numbers, in the keys of Hugging Face's image processors.
const preprocessorFile = "preprocessor_config.json"

// preprocessor is what is written to it.
type preprocessor struct {
	Type          string        `json:"image_processor_type"`
	DoResize      bool          `json:"do_resize"`
	Size          processorSize `json:"size"`
	Resample      int           `json:"resample"` // 2 is bilinear
	DoRescale     bool          `json:"do_rescale"`
	RescaleFactor float64       `json:"rescale_factor"`
	DoNormalize   bool          `json:"do_normalize"`
	Mean          []float32     `json:"image_mean"`
	Std           []float32     `json:"image_std"`
}

type processorSize struct {
	Height int `json:"height"`
	Width  int `json:"width"`
}

// saveNormalization writes the preprocessor of a model folder.
func saveNormalization(dir string, n images.Normalization, shape images.Shape) error {
	return writeJSON(filepath.Join(dir, preprocessorFile), preprocessor{
		Type: "ViTImageProcessor", DoResize: true, Size: processorSize{shape.Height, shape.Width}, Resample: 2,
		DoRescale: true, RescaleFactor: 1.0 / 255, DoNormalize: true, Mean: n.Mean, Std: n.Std,
	})
}

// loadNormalization reads the normalization of a model folder; a folder without
// one gives nil. Of the keys only those count that change a pixel's value.
func loadNormalization(dir string, channels int) (*images.Normalization, error) {
	path := filepath.Join(dir, preprocessorFile)
	text, err := regularfile.Read(path, maxJSONBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	n, err := parseNormalization(text, channels)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return n, nil
}

func parseNormalization(text []byte, channels int) (*images.Normalization, error) {
	var fields map[string]json.RawMessage
	if err := strictjson.Decode(text, &fields); err != nil {
		return nil, err
	}
	doRescale, factor, offset, doNormalize := true, 1.0/255, false, true
	n := images.HalfNormalization(channels) // Hugging Face's, where the file gives none
	for _, f := range [...]struct {
		key   string
		value any
	}{
		{"do_rescale", &doRescale}, {"rescale_factor", &factor}, {"rescale_offset", &offset}, {"do_normalize", &doNormalize}, {"image_mean", &n.Mean}, {"image_std", &n.Std},
	} {
		if raw, ok := fields[f.key]; ok {
			if err := json.Unmarshal(raw, f.value); err != nil {
				return nil, fmt.Errorf("%s: %w", f.key, err)
			}
		}
	}
	if scale := factor * 255; !doRescale || scale < 1-1e-6 || scale > 1+1e-6 {
		return nil, fmt.Errorf("do_rescale is %v, rescale_factor %v, want true and 1/255", doRescale, factor)
	}
	if offset {
		return nil, fmt.Errorf("rescale_offset is true, want false")
	}
	if !doNormalize {
		n = images.Normalization{Mean: make([]float32, channels), Std: ones(channels)}
	}
	return &n, n.Check(channels)
}

func ones(n int) []float32 {
	list := make([]float32, n)
	for i := range list {
		list[i] = 1
	}
	return list
}
