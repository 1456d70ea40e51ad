package train

import (
	"bytes"
	"io"
	"path/filepath"

	"github.com/stria-ml/stria/checkpoints/safetensors"
	"github.com/stria-ml/stria/internal/atomicfile"
	"github.com/stria-ml/stria/models/gqa"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tokenizer"
)

const (
	modelFile  = "model.safetensors"
	configFile = "config.json"
)

// saveModel writes a model and its tokenizer to a folder.
func saveModel(dir string, m *gqa.Model, tok tokenizer.Tokenizer) error {
	var weights []safetensors.Named
	for name, p := range nn.Params(m) {
		weights = append(weights, safetensors.Named{Name: name, Tensor: p.Value})
	}
	if err := safetensors.Save(filepath.Join(dir, modelFile), weights, map[string]string{"format": "pt"}); err != nil {
		return err
	}
	if err := writeJSON(filepath.Join(dir, configFile), m.Config); err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dir, tokenizer.FileName), func(w io.Writer) error { return tokenizer.Save(w, tok) })
}

// vocabularyOf returns a text that is the same for equal tokenizers.
func vocabularyOf(tok tokenizer.Tokenizer) (string, error) {
	var text bytes.Buffer
	err := tokenizer.Save(&text, tok)
	return text.String(), err
}
