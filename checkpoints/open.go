package checkpoints

import (
	"os"
	"path/filepath"

	"github.com/stria-ml/stria/checkpoints/safetensors"
	"github.com/stria-ml/stria/models/gqa"
)

// configFile is the file of a model's sizes.
const configFile = "config.json"

// source is an open file or folder.
type source interface {
	Source
	Metadata() map[string]string
	Close() error
}

// checkpoint is a checkpoint that was found and opened.
type checkpoint struct {
	path       string // of the folder or file
	configPath string
	config     gqa.Config
	declared   map[string]bool // the fields of config.json's "stria"
	source     source
	notes      []string
}

// open finds and opens the checkpoint that path names.
func open(path string) (*checkpoint, error) {
	path, notes, err := Locate(path)
	if err != nil {
		return nil, err
	}
	c := &checkpoint{path: path, notes: notes}
	if c.source, err = openSource(c); err != nil {
		return nil, err
	}
	if c.config, err = gqa.ReadConfig(c.configPath); err != nil {
		c.source.Close()
		return nil, err
	}
	if c.declared, err = declaredLayout(c.configPath); err != nil {
		c.source.Close()
		return nil, err
	}
	return c, nil
}

func openSource(c *checkpoint) (source, error) {
	stat, err := os.Stat(c.path)
	if err != nil {
		return nil, err
	}
	if !stat.IsDir() {
		c.configPath = filepath.Join(filepath.Dir(c.path), configFile)
		return safetensors.Open(c.path)
	}
	c.configPath = filepath.Join(c.path, configFile)
	folder, err := safetensors.OpenFolder(c.path)
	if err != nil {
		return nil, err
	}
	c.notes = append(c.notes, folder.Notes()...)
	return folder, nil
}
