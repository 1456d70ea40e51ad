package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/stria-ml/stria/checkpoints"
	"github.com/stria-ml/stria/internal/regularfile"
)

// Run is the folder of a run, held by one process at a time:
//
//	config.json  train.json  metrics.jsonl  loss.svg
//	checkpoints/step-000500/{model.safetensors, optimizer.safetensors, trainer.json, config.json}
type Run struct {
	dir     string
	lock    *os.File
	metrics *os.File
}

// names of what a run's folder holds.
const (
	metricsFile = "metrics.jsonl"
	trainFile   = "train.json"
	configFile  = "config.json"
)

// NewRunDir returns the path of a run's folder that does not exist yet,
// base/kind-DATE-TIME.
func NewRunDir(base, kind string, now time.Time) string {
	name := filepath.Join(base, kind+"-"+now.Format("20060102-150405"))
	path := name
	for n := 2; ; n++ {
		if _, err := os.Lstat(path); err != nil {
			return path
		}
		path = fmt.Sprintf("%s-%d", name, n)
	}
}

// CreateRun makes the folder of a new run. One that exists and is not empty is
// refused: no run overwrites another.
func CreateRun(dir string) (*Run, error) {
	if err := checkRunDir(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(dir, checkpoints.StepsFolder), 0o755); err != nil {
		return nil, fmt.Errorf("run folder: %w", err)
	}
	return openRun(dir)
}

// checkRunDir refuses a folder that holds something.
func checkRunDir(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("run folder: %w", err)
	case len(entries) > 0:
		return fmt.Errorf("run folder %s: it is not empty (%d entries); choose another, or resume that run", dir, len(entries))
	}
	return nil
}

// OpenRun opens the folder of a run that is to go on.
func OpenRun(dir string) (*Run, error) {
	info, err := os.Stat(filepath.Join(dir, checkpoints.StepsFolder))
	if err != nil {
		return nil, fmt.Errorf("run folder: %w", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("run folder %s: %s is no folder", dir, checkpoints.StepsFolder)
	}
	r, err := openRun(dir)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(r.sweep(), r.checkSteps()); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// openRun locks the folder and opens its metrics.
func openRun(dir string) (*Run, error) {
	lock, err := lockDir(dir)
	if err != nil {
		return nil, fmt.Errorf("run folder %s: %w", dir, err)
	}
	r := &Run{dir: dir, lock: lock}
	if err := r.openMetrics(); err != nil {
		lock.Close()
		return nil, err
	}
	return r, nil
}

func (r *Run) openMetrics() (err error) {
	path := filepath.Join(r.dir, metricsFile)
	if err := regularfile.Check(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	r.metrics, err = os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	return err
}

// Dir returns the folder's path.
func (r *Run) Dir() string { return r.dir }

// Close leaves the folder to others.
func (r *Run) Close() error { return errors.Join(r.metrics.Close(), r.lock.Close()) }

// WriteJSON writes a value to a file of the folder, whole or not at all.
func (r *Run) WriteJSON(name string, value any) error {
	return writeJSON(filepath.Join(r.dir, name), value)
}

// log appends a line to the metrics.
func (r *Run) log(line any) error {
	text, err := json.Marshal(line)
	if err != nil {
		return err
	}
	_, err = r.metrics.Write(append(text, '\n'))
	return err
}
