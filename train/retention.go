package train

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/stria-ml/stria/checkpoints"
)

// doomedPrefix begins the name of what is being removed.
const doomedPrefix = ".old-"

// checkpointPath returns where the checkpoint of a step is.
func (r *Run) checkpointPath(step int64) string { return checkpoints.StepFolder(r.dir, step) }

// Checkpoints returns the steps that a run's folder has whole checkpoints of,
// in ascending order.
func Checkpoints(dir string) ([]int64, error) {
	steps, err := checkpoints.Steps(dir)
	if err != nil {
		return nil, fmt.Errorf("run folder: %w", err)
	}
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
	return checkpoints.StepFolder(dir, steps[len(steps)-1]), nil
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

// checkSteps refuses a folder in the place of a checkpoint that is not whole:
// the run could not save that step. Runs leave none, they rename whole folders;
// it may be half copied, or the user's.
func (r *Run) checkSteps() error {
	folder := filepath.Join(r.dir, checkpoints.StepsFolder)
	entries, err := os.ReadDir(folder)
	if err != nil {
		return fmt.Errorf("run folder: %w", err)
	}
	for _, entry := range entries {
		path := filepath.Join(folder, entry.Name())
		number, _ := strings.CutPrefix(entry.Name(), checkpoints.StepPrefix)
		step, err := strconv.ParseInt(number, 10, 64)
		if err == nil && path == r.checkpointPath(step) && !checkpoints.IsWhole(path) {
			return fmt.Errorf("%s: it is no whole checkpoint, since it has no %s; move it away", path, checkpoints.StateFile)
		}
	}
	return nil
}

// sweep removes what a process that was killed left half written or half
// removed, in whole checkpoints too.
func (r *Run) sweep() error {
	steps, err := Checkpoints(r.dir)
	if err != nil {
		return err
	}
	dirs := []string{r.dir, filepath.Join(r.dir, checkpoints.StepsFolder)}
	for _, step := range steps {
		dirs = append(dirs, r.checkpointPath(step))
	}
	var errs []error
	for _, dir := range dirs {
		errs = append(errs, sweepFolder(dir))
	}
	return errors.Join(errs...)
}

func sweepFolder(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, entry := range entries {
		if isLeftover(entry.Name()) {
			errs = append(errs, os.RemoveAll(filepath.Join(dir, entry.Name())))
		}
	}
	return errors.Join(errs...)
}

// isLeftover reports whether a name is one that files have before they are
// whole, or folders while they are removed.
func isLeftover(name string) bool {
	for _, final := range [...]string{metricsFile, trainFile, configFile, plotFile, confusionFile, confusionPlotFile, checkpoints.StateFile + ".", checkpoints.StepPrefix} {
		if strings.HasPrefix(name, "."+final) {
			return true
		}
	}
	return strings.HasPrefix(name, doomedPrefix+checkpoints.StepPrefix)
}
