package checkpoints

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/stria-ml/stria/checkpoints/safetensors"
)

// The names in a run's folder: checkpoints/step-000500.
const (
	runCheckpoints = "checkpoints"
	stepPrefix     = "step-"
)

// Locate returns the model's folder or file that path names: path itself, or a
// run folder's newest whole checkpoint, which a note then says.
func Locate(path string) (found string, notes []string, err error) {
	stat, err := os.Stat(path)
	if err != nil {
		return "", nil, err
	}
	if !stat.IsDir() || isModelFolder(path) {
		return path, nil, nil
	}
	entries, err := os.ReadDir(filepath.Join(path, runCheckpoints))
	if err != nil {
		return "", nil, fmt.Errorf("folder %s holds no model (%s, or %s and its shards) and is no run's folder",
			path, safetensors.SingleFile, safetensors.IndexFile)
	}
	newest := int64(-1)
	for _, entry := range entries {
		dir := filepath.Join(path, runCheckpoints, entry.Name())
		if step, ok := stepOf(entry.Name()); ok && step > newest && isModelFolder(dir) {
			newest, found = step, dir
		}
	}
	if found == "" {
		return "", nil, fmt.Errorf("run folder %s has no checkpoint yet", path)
	}
	return found, []string{"reading the run's newest checkpoint, " + found}, nil
}

// stepOf returns the step of the checkpoint folder of this name.
func stepOf(name string) (step int64, ok bool) {
	number, ok := strings.CutPrefix(name, stepPrefix)
	if !ok {
		return 0, false
	}
	step, err := strconv.ParseInt(number, 10, 64)
	return step, err == nil && step >= 0
}

// isModelFolder reports whether dir holds a model's tensors.
func isModelFolder(dir string) bool {
	return exists(filepath.Join(dir, safetensors.SingleFile)) || exists(filepath.Join(dir, safetensors.IndexFile))
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
