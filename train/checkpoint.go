package train

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/stria-ml/stria/checkpoints"
	"github.com/stria-ml/stria/checkpoints/safetensors"
	"github.com/stria-ml/stria/internal/atomicfile"
	"github.com/stria-ml/stria/tensor"
)

// optimizerFile is what a checkpoint holds beside the model and its StateFile.
const optimizerFile = "optimizer.safetensors"

// State is what trainer.json holds: with the model and the optimizer, all that
// a run needs to go on to the same bits.
type State struct {
	Version        int                `json:"version"`
	Task           string             `json:"task"`
	KernelSet      string             `json:"kernel_set"`
	Config         Config             `json:"config"`
	Progress       Progress           `json:"progress"`
	Data           json.RawMessage    `json:"data"`
	Random         tensor.StreamState `json:"random"`
	OptimizerSteps int64              `json:"optimizer_steps"`
}

// stateVersion is the version of State that is written and read.
const stateVersion = 1

// save writes a checkpoint. One that the step has already differs at most in
// its trainer.json: an evaluation came since.
func (t *Trainer) save() error {
	if t.run == nil {
		return nil
	}
	state, err := t.state()
	if err != nil {
		return err
	}
	if err := t.run.metrics.Sync(); err != nil {
		return err
	}
	path := t.run.checkpointPath(t.progress.Step)
	if checkpoints.IsWhole(path) {
		return writeJSON(filepath.Join(path, checkpoints.StateFile), state)
	}
	err = atomicfile.WriteDir(path, func(dir string) error {
		if err := t.task.Save(dir); err != nil {
			return err
		}
		if err := safetensors.Save(filepath.Join(dir, optimizerFile), t.moments(), nil); err != nil {
			return err
		}
		return writeJSON(filepath.Join(dir, checkpoints.StateFile), state)
	})
	if err != nil {
		return err
	}
	return t.run.prune(t.config.Keep, t.progress.BestStep)
}

func (t *Trainer) state() (State, error) {
	position, err := t.task.Position()
	return State{
		Version: stateVersion, Task: t.task.Kind(), KernelSet: t.graph.Device().KernelSet(), Config: t.config,
		Progress: t.progress, Data: position, Random: t.random.State(), OptimizerSteps: t.optimizer.Steps(),
	}, err
}

// moments lists the optimizer's tensors.
func (t *Trainer) moments() []safetensors.Named {
	var list []safetensors.Named
	t.optimizer.State(func(name string, moment *tensor.Tensor) {
		list = append(list, safetensors.Named{Name: name, Tensor: moment})
	})
	return list
}

// ReadState reads the trainer.json of a checkpoint folder.
func ReadState(dir string) (State, error) {
	var state State
	path := filepath.Join(dir, checkpoints.StateFile)
	if err := readJSON(path, &state); err != nil {
		return state, err
	}
	if state.Version != stateVersion {
		return state, fmt.Errorf("%s: version is %d, this program reads %d", path, state.Version, stateVersion)
	}
	p := state.Progress
	if p.Step < 0 || p.Evaluated > p.Step || p.BestStep > p.Step || state.OptimizerSteps < 0 || state.OptimizerSteps > p.Step {
		return state, fmt.Errorf("%s: its numbers of steps contradict one another: %d made, %d by the optimizer, evaluated after %d, best after %d",
			path, p.Step, state.OptimizerSteps, p.Evaluated, p.BestStep)
	}
	if p.Targets < 0 || p.Skipped < 0 || int64(p.Skipped) > p.Step {
		return state, fmt.Errorf("%s: its progress cannot be: %d targets, %d of %d steps skipped in a row", path, p.Targets, p.Skipped, p.Step)
	}
	return state, nil
}

// Resume brings the trainer, of which nothing may have run before, to where the
// checkpoint in dir was saved. It refuses a checkpoint of another config, but
// for Steps and what does not change the bits. After an error, the trainer
// cannot be used.
func (t *Trainer) Resume(dir string) error {
	state, err := ReadState(dir)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, checkpoints.StateFile)
	if base := filepath.Base(dir); strings.HasPrefix(base, checkpoints.StepPrefix) && base != filepath.Base(checkpoints.StepFolder("", state.Progress.Step)) {
		return fmt.Errorf("%s: it is of step %d, which the folder's name is not", path, state.Progress.Step)
	}
	if state.Task != t.task.Kind() {
		return fmt.Errorf("%s: it is of a %q run, this is a %q run", path, state.Task, t.task.Kind())
	}
	if err := t.config.sameRun(state.Config); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if key := t.random.State().Key; state.Random.Key != key {
		return fmt.Errorf("%s: random.key is %d, want %d, which seed %d gives", path, state.Random.Key, key, t.config.Seed)
	}
	if now := t.graph.Device().KernelSet(); state.KernelSet != now {
		t.reporter.Message(fmt.Sprintf("the checkpoint was made by %s kernels, these are %s: the run goes on, but not to the same bits", state.KernelSet, now))
	}
	if err := t.task.SetPosition(state.Data); err != nil {
		return fmt.Errorf("%s: data: %w", path, err)
	}
	if err := t.task.Load(dir); err != nil {
		return err
	}
	if err := t.restoreMoments(filepath.Join(dir, optimizerFile)); err != nil {
		return err
	}
	t.optimizer.SetSteps(state.OptimizerSteps)
	t.random.SetState(state.Random)
	t.progress = state.Progress
	return nil
}

// sameRun refuses a config whose bits would be others from the start.
func (c Config) sameRun(stored Config) error {
	stored.Steps, stored.EvalEvery, stored.SaveEvery, stored.LogEvery = c.Steps, c.EvalEvery, c.SaveEvery, c.LogEvery
	stored.Keep, stored.MaxSkipped = c.Keep, c.MaxSkipped
	was, is := reflect.ValueOf(stored), reflect.ValueOf(c)
	for i := range was.NumField() {
		if a, b := was.Field(i).Interface(), is.Field(i).Interface(); a != b {
			return fmt.Errorf("its %s is %v, this run's is %v", was.Type().Field(i).Tag.Get("json"), a, b)
		}
	}
	return nil
}

// restoreMoments fills the optimizer's tensors, all of them, from a file.
func (t *Trainer) restoreMoments(path string) error {
	f, err := safetensors.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	moments := t.moments()
	if have := len(f.Infos()); have != len(moments) {
		return fmt.Errorf("%s: it has %d tensors, the optimizer has %d", path, have, len(moments))
	}
	for _, m := range moments {
		stored, err := f.Tensor(m.Name)
		if err != nil {
			return err
		}
		if err := copyStored(m.Tensor, stored, path, m.Name); err != nil {
			return err
		}
	}
	return nil
}

// copyStored copies what a file holds to where it belongs.
func copyStored(dst, stored *tensor.Tensor, path, name string) error {
	if stored.DType() != dst.DType() || !slices.Equal(stored.Shape(), dst.Shape()) {
		return fmt.Errorf("%s: tensor %q is %v %v, want %v %v", path, name,
			stored.DType(), stored.Shape(), dst.DType(), dst.Shape())
	}
	dst.CopyFrom(stored)
	return nil
}
