package checkpoints

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/stria-ml/stria/checkpoints/safetensors"
)

// The names in a run's folder: checkpoints/step-000500/trainer.json.
const (
	// StepsFolder is the folder of a run's checkpoints.
	StepsFolder = "checkpoints"
	// StepPrefix is what the name of a checkpoint's folder begins with.
	StepPrefix = "step-"
	// StateFile is the file of the trainer's state, the last that is written: a
	// checkpoint of a run without it is not whole.
	StateFile = "trainer.json"
)

// StepFolder returns the path of a run's checkpoint after so many steps.
func StepFolder(run string, step int64) string {
	return filepath.Join(run, StepsFolder, fmt.Sprintf("%s%06d", StepPrefix, step))
}

// Steps returns the steps that a run's folder has whole checkpoints of, in
// ascending order.
func Steps(run string) ([]int64, error) {
	entries, err := os.ReadDir(filepath.Join(run, StepsFolder))
	if err != nil {
		return nil, err
	}
	var steps []int64
	for _, entry := range entries {
		number, _ := strings.CutPrefix(entry.Name(), StepPrefix)
		step, err := strconv.ParseInt(number, 10, 64)
		if err == nil && step >= 0 && filepath.Base(StepFolder(run, step)) == entry.Name() && IsWhole(StepFolder(run, step)) {
			steps = append(steps, step)
		}
	}
	slices.Sort(steps)
	return steps, nil
}

// IsWhole reports whether dir is a whole checkpoint of a run.
func IsWhole(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, StateFile))
	return err == nil && info.Mode().IsRegular()
}

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
	steps, err := Steps(path)
	if err != nil {
		return "", nil, fmt.Errorf("folder %s holds no model (%s, or %s and its shards) and is no run's folder",
			path, safetensors.SingleFile, safetensors.IndexFile)
	}
	if len(steps) == 0 {
		return "", nil, fmt.Errorf("run folder %s has no checkpoint yet", path)
	}
	found = StepFolder(path, steps[len(steps)-1])
	return found, []string{"reading the run's newest checkpoint, " + found}, nil
}

// isModelFolder reports whether dir holds a model's tensors.
func isModelFolder(dir string) bool {
	return exists(filepath.Join(dir, safetensors.SingleFile)) || exists(filepath.Join(dir, safetensors.IndexFile))
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
