package train

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/stria-ml/stria/internal/atomicfile"
)

// Run is a run's folder:
//
//	config.json  train.json  metrics.jsonl  loss.svg
//	checkpoints/step-000500/{model.safetensors, optimizer.safetensors, trainer.json, config.json}
type Run struct {
	dir     string
	metrics *os.File
}

// names of what a run's folder holds.
const (
	metricsFile    = "metrics.jsonl"
	trainFile      = "train.json"
	checkpointsDir = "checkpoints"
	stepPrefix     = "step-"
)

// CreateRun makes the folder of a new run. One that exists and is not empty is
// refused: no run overwrites another.
func CreateRun(dir string) (*Run, error) {
	if err := checkRunDir(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(dir, checkpointsDir), 0o755); err != nil {
		return nil, err
	}
	return openRun(dir)
}

// NewRunDir returns the path of a run's folder that does not exist yet,
// base/kind-DATE-TIME.
func NewRunDir(base, kind string, now time.Time) string {
	path := filepath.Join(base, kind+"-"+now.Format("20060102-150405"))
	for n := 2; ; n++ {
		if _, err := os.Lstat(path); err != nil {
			return path
		}
		path = filepath.Join(base, fmt.Sprintf("%s-%s-%d", kind, now.Format("20060102-150405"), n))
	}
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

// ResumeRun opens the folder of a run that is to go on after step, and cuts its
// metrics there.
func ResumeRun(dir string, step int64) (*Run, error) {
	if err := cutMetrics(filepath.Join(dir, metricsFile), step); err != nil {
		return nil, err
	}
	return openRun(dir)
}

func openRun(dir string) (*Run, error) {
	f, err := os.OpenFile(filepath.Join(dir, metricsFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	return &Run{dir: dir, metrics: f}, nil
}

// Dir returns the folder's path.
func (r *Run) Dir() string { return r.dir }

// Close closes the metrics file.
func (r *Run) Close() error { return r.metrics.Close() }

// log appends a line to the metrics.
func (r *Run) log(line any) error {
	text, err := json.Marshal(line)
	if err != nil {
		return err
	}
	_, err = r.metrics.Write(append(text, '\n'))
	return err
}

// WriteJSON writes a value to a file of the folder, whole or not at all.
func (r *Run) WriteJSON(name string, value any) error {
	return writeJSON(filepath.Join(r.dir, name), value)
}

func writeJSON(path string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(path, func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	})
}

// cutMetrics drops the lines past step, and a last line that was cut short.
func cutMetrics(path string, step int64) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	return atomicfile.Write(path, func(w io.Writer) error {
		lines := bufio.NewReader(f)
		for {
			line, err := lines.ReadString('\n')
			if err == io.EOF {
				return nil // what follows the last newline was cut short
			}
			if err != nil {
				return err
			}
			var at struct{ Step *int64 }
			if json.Unmarshal([]byte(line), &at) != nil || at.Step == nil || *at.Step > step {
				continue
			}
			if _, err := io.WriteString(w, line); err != nil {
				return err
			}
		}
	})
}

// checkpointPath returns where the checkpoint of a step is.
func (r *Run) checkpointPath(step int64) string {
	return filepath.Join(r.dir, checkpointsDir, fmt.Sprintf("%s%06d", stepPrefix, step))
}

// Checkpoints returns the steps that a run's folder has whole checkpoints of,
// in ascending order.
func Checkpoints(dir string) ([]int64, error) {
	entries, err := os.ReadDir(filepath.Join(dir, checkpointsDir))
	if err != nil {
		return nil, err
	}
	var steps []int64
	for _, entry := range entries {
		number, ok := strings.CutPrefix(entry.Name(), stepPrefix)
		var step int64
		if n, err := fmt.Sscanf(number, "%d", &step); !ok || n != 1 || err != nil || !entry.IsDir() {
			continue
		}
		steps = append(steps, step)
	}
	sort.Slice(steps, func(i, j int) bool { return steps[i] < steps[j] })
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
	r := Run{dir: dir}
	return r.checkpointPath(steps[len(steps)-1]), nil
}

// prune removes all but the last keep checkpoints and the best.
func (r *Run) prune(keep int, best int64) error {
	steps, err := Checkpoints(r.dir)
	if err != nil {
		return err
	}
	for i, step := range steps {
		if i >= len(steps)-keep || step == best {
			continue
		}
		if err := os.RemoveAll(r.checkpointPath(step)); err != nil {
			return err
		}
	}
	return nil
}
