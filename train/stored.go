package train

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/stria-ml/stria/checkpoints"
	"github.com/stria-ml/stria/internal/parallel"
	"github.com/stria-ml/stria/models/gqa"
	"github.com/stria-ml/stria/tokenizer"
)

// SetThreads sets how many threads are used; 0 means one a core.
func SetThreads(n int) { parallel.SetThreads(n) }

// ModelSource says where a stored model is.
type ModelSource struct {
	Path      string            // a run folder, a checkpoint folder, a Hugging Face folder or a file
	Tokenizer string            // a tokenizer file, or bytes; empty for the one beside the model
	Message   func(text string) // gets what the user should hear about, or nil
}

// storedModel is a model that was read, for inference.
type storedModel struct {
	model     *gqa.Model
	tokenizer tokenizer.Tokenizer
	dir       string // the folder that it is in
}

func (s ModelSource) open() (*storedModel, error) {
	model, report, err := checkpoints.LoadGQA(s.Path, checkpoints.LoadOptions{Share: true})
	if err != nil {
		return nil, err
	}
	for _, note := range report.Notes {
		s.message(note)
	}
	m := &storedModel{model: model, dir: folderOf(report.Path)}
	m.tokenizer, err = s.openTokenizer(m.dir, model.Config.VocabSize)
	return m, err
}

func (s ModelSource) message(text string) {
	if s.Message != nil {
		s.Message(text)
	}
}

// openTokenizer returns the tokenizer that was asked for, or the one beside the
// model, or bytes for a model of 256 tokens.
func (s ModelSource) openTokenizer(dir string, vocabulary int) (tok tokenizer.Tokenizer, err error) {
	switch s.Tokenizer {
	case ByteTokenizer:
		tok = tokenizer.Bytes{}
	case "":
		tok, err = loadTokenizer(dir)
	default:
		tok, err = tokenizer.LoadFile(s.Tokenizer)
	}
	if err != nil {
		return nil, err
	}
	if tok == nil {
		if vocabulary != (tokenizer.Bytes{}).Size() {
			return nil, fmt.Errorf("%s: there is no %s; give a tokenizer file for its %d tokens", dir, tokenizer.FileName, vocabulary)
		}
		s.message(fmt.Sprintf("%s: there is no %s; its %d tokens are taken for bytes", dir, tokenizer.FileName, vocabulary))
		tok = tokenizer.Bytes{}
	}
	if tok.Size() > vocabulary {
		return nil, fmt.Errorf("the tokenizer (%s) has %d tokens, the model in %s %d", tok.Kind(), tok.Size(), dir, vocabulary)
	}
	return tok, nil
}

// folderOf returns path, or the folder of the file that it is.
func folderOf(path string) string {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return filepath.Dir(path)
	}
	return path
}
