package train

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/stria-ml/stria/checkpoints"
	"github.com/stria-ml/stria/internal/parallel"
	"github.com/stria-ml/stria/models/gqa"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
	"github.com/stria-ml/stria/tokenizer"
)

// ModelSource says where a stored model is.
type ModelSource struct {
	Path      string            // a run folder, a checkpoint folder, a Hugging Face folder or a file
	Tokenizer string            // a tokenizer file, or bytes; empty for the one beside the model
	Heads     string            // the weights' head order, whatever the files say; empty for what they say
	Rotary    string            // their rotary layout, likewise
	Device    string            // empty for the CPU
	Threads   int               // 0 for one a core
	Message   func(text string) // gets what the user should hear about, or nil
}

// loadOptions returns the options for weights in this layout; empty names leave
// it to the files.
func loadOptions(heads, rotary string) (checkpoints.LoadOptions, error) {
	var o checkpoints.LoadOptions
	if heads != "" {
		order, err := nn.ParseHeadOrder(heads)
		if err != nil {
			return o, err
		}
		o.FromHeads = &order
	}
	if rotary != "" {
		layout, err := nn.ParseRotaryLayout(rotary)
		if err != nil {
			return o, err
		}
		o.FromRotary = &layout
	}
	return o, nil
}

// check finds what is wrong with the choices themselves.
func (s ModelSource) check(c *checker) {
	c.between("threads", int64(s.Threads), 0, 1024)
	_, err := loadOptions(s.Heads, s.Rotary)
	c.add(err)
}

// storedModel is a model that was read, for inference.
type storedModel struct {
	model     *gqa.Model
	tokenizer tokenizer.Tokenizer
	dir       string // the folder that it is in
}

func (s ModelSource) open() (*storedModel, error) {
	parallel.SetThreads(s.Threads)
	o, err := loadOptions(s.Heads, s.Rotary)
	if err != nil {
		return nil, err
	}
	device, err := s.device()
	if err != nil {
		return nil, err
	}
	o.Share = true
	model, report, err := checkpoints.LoadGQA(s.Path, o)
	if err != nil {
		return nil, err
	}
	for _, note := range report.Notes {
		s.message(note)
	}
	nn.ToDevice(model, device)
	m := &storedModel{model: model, dir: folderOf(report.Path)}
	m.tokenizer, err = s.openTokenizer(m.dir, model.Config.VocabSize)
	return m, err
}

func (s ModelSource) device() (tensor.Device, error) {
	if s.Device == "" {
		return tensor.CPU, nil
	}
	return tensor.OpenDevice(s.Device)
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
