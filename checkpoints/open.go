package checkpoints

import (
	"os"
	"path/filepath"

	"github.com/stria-ml/stria/checkpoints/safetensors"
	"github.com/stria-ml/stria/models/gqa"
)

// configFile is the file of a model's sizes.
const configFile = "config.json"

// source is an open file or folder of tensors.
type source interface {
	Source
	Metadata() map[string]string
	Close() error
}

// weights are the tensors that a path led to.
type weights struct {
	source
	configPath string   // where their config.json is, if there is one
	files      []string // base names
	notes      []string
}

// openWeights finds and opens the tensors that path names.
func openWeights(path string) (*weights, error) {
	path, notes, err := Locate(path)
	if err != nil {
		return nil, err
	}
	stat, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !stat.IsDir() {
		file, err := safetensors.Open(path)
		if err != nil {
			return nil, err
		}
		return &weights{file, filepath.Join(filepath.Dir(path), configFile), []string{filepath.Base(path)}, notes}, nil
	}
	folder, err := safetensors.OpenFolder(path)
	if err != nil {
		return nil, err
	}
	w := &weights{source: folder, configPath: filepath.Join(path, configFile), notes: append(notes, folder.Notes()...)}
	for _, file := range folder.Files() {
		w.files = append(w.files, filepath.Base(file.Path()))
	}
	return w, nil
}

// checkpoint is a GQA model's weights and their config.
type checkpoint struct {
	*weights
	config   gqa.Config
	declared map[string]bool // the fields of config.json's "stria"
}

// openGQA opens the checkpoint that path names.
func openGQA(path string) (*checkpoint, error) {
	w, err := openWeights(path)
	if err != nil {
		return nil, err
	}
	c := &checkpoint{weights: w}
	if err := c.readConfig(); err != nil {
		w.Close()
		return nil, err
	}
	return c, nil
}

func (c *checkpoint) readConfig() (err error) {
	if c.config, err = gqa.ReadConfig(c.configPath); err != nil {
		return err
	}
	c.declared, err = declaredLayout(c.configPath)
	return err
}
