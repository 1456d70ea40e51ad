package train

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/stria-ml/stria/internal/atomicfile"
	"github.com/stria-ml/stria/tokenizer"
)

// saveTokenizer writes the tokenizer of a model folder.
func saveTokenizer(dir string, tok tokenizer.Tokenizer) error {
	return atomicfile.Write(filepath.Join(dir, tokenizer.FileName), func(w io.Writer) error { return tokenizer.Save(w, tok) })
}

// loadTokenizer reads the tokenizer of a model folder; a folder without one
// gives nil.
func loadTokenizer(dir string) (tokenizer.Tokenizer, error) {
	tok, err := tokenizer.LoadFile(filepath.Join(dir, tokenizer.FileName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return tok, err
}

// sameTokenizer refuses a model whose tokens are not those of the data.
func sameTokenizer(model, data tokenizer.Tokenizer) error {
	a, err := vocabularyOf(model)
	if err != nil {
		return err
	}
	b, err := vocabularyOf(data)
	if err != nil {
		return err
	}
	if a != b {
		return fmt.Errorf("the model's tokenizer (%s, %d tokens) is not the data's (%s, %d tokens)",
			model.Kind(), model.Size(), data.Kind(), data.Size())
	}
	return nil
}

// vocabularyOf returns a text that is the same for equal tokenizers.
func vocabularyOf(tok tokenizer.Tokenizer) (string, error) {
	var text bytes.Buffer
	err := tokenizer.Save(&text, tok)
	return text.String(), err
}
