package train

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	stepPrefix   = "step-"
	doomedPrefix = ".old-" // of what is being removed
)

// checkpointPath returns where the checkpoint of a step is.
func (r *Run) checkpointPath(step int64) string { return checkpointPath(r.dir, step) }

func checkpointPath(dir string, step int64) string {
	return filepath.Join(dir, checkpointsDir, fmt.Sprintf("%s%06d", stepPrefix, step))
}

// Checkpoints returns the steps that a run's folder has whole checkpoints of,
// in ascending order.
func Checkpoints(dir string) ([]int64, error) {
	entries, err := os.ReadDir(filepath.Join(dir, checkpointsDir))
	if err != nil {
		return nil, fmt.Errorf("run folder: %w", err)
	}
	var steps []int64
	for _, entry := range entries {
		number, ok := strings.CutPrefix(entry.Name(), stepPrefix)
		step, err := strconv.ParseInt(number, 10, 64)
		if !ok || err != nil || step < 0 || checkpointPath(dir, step) != filepath.Join(dir, checkpointsDir, entry.Name()) {
			continue
		}
		if isCheckpoint(checkpointPath(dir, step)) {
			steps = append(steps, step)
		}
	}
	slices.Sort(steps)
	return steps, nil
}

// LatestCheckpoint returns the path of a run's newest checkpoint.
func LatestCheckpoint(dir string) (string, error) {
	steps, err := Checkpoints(dir)
	if err != nil {
		return "", err
	}
	if len(steps) == 0 {
		return "", fmt.Errorf("run folder %s: it has no checkpoint yet", dir)
	}
	return checkpointPath(dir, steps[len(steps)-1]), nil
}

// prune removes all but the last keep checkpoints and that of the best step.
func (r *Run) prune(keep int, best int64) error {
	steps, err := Checkpoints(r.dir)
	if err != nil {
		return err
	}
	for _, step := range steps[:max(0, len(steps)-keep)] {
		if step == best {
			continue
		}
		// Renamed first, a folder that is half removed is no checkpoint.
		path := r.checkpointPath(step)
		doomed := filepath.Join(filepath.Dir(path), doomedPrefix+filepath.Base(path))
		if err := os.Rename(path, doomed); err != nil {
			return err
		}
		if err := os.RemoveAll(doomed); err != nil {
			return err
		}
	}
	return nil
}

// sweep removes what a process that was killed left half written or half
// removed.
func (r *Run) sweep() error {
	var errs []error
	for _, dir := range [...]string{r.dir, filepath.Join(r.dir, checkpointsDir)} {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, entry := range entries {
			if isLeftover(entry.Name()) {
				errs = append(errs, os.RemoveAll(filepath.Join(dir, entry.Name())))
			}
		}
	}
	return errors.Join(errs...)
}

// isLeftover reports whether a name is one that files have before they are
// whole, or folders while they are removed.
func isLeftover(name string) bool {
	for _, final := range [...]string{metricsFile, trainFile, configFile, plotFile, stepPrefix} {
		if strings.HasPrefix(name, "."+final) {
			return true
		}
	}
	return strings.HasPrefix(name, doomedPrefix+stepPrefix)
}
