package train

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/stria-ml/stria/checkpoints/safetensors"
	"github.com/stria-ml/stria/internal/atomicfile"
	"github.com/stria-ml/stria/tensor"
)

// names of what a checkpoint holds beside the model.
const (
	optimizerFile = "optimizer.safetensors"
	stateFile     = "trainer.json"
)

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

// save writes a checkpoint, unless the step has one.
func (t *Trainer) save() error {
	if t.run == nil {
		return nil
	}
	path := t.run.checkpointPath(t.progress.Step)
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	state, err := t.state()
	if err != nil {
		return err
	}
	err = atomicfile.WriteDir(path, func(dir string) error {
		if err := t.task.Save(dir); err != nil {
			return err
		}
		if err := safetensors.Save(filepath.Join(dir, optimizerFile), t.moments(), nil); err != nil {
			return err
		}
		return writeJSON(filepath.Join(dir, stateFile), state)
	})
	if err != nil {
		return err
	}
	return t.run.prune(t.config.Keep, t.progress.BestStep)
}

func (t *Trainer) state() (State, error) {
	position, err := t.task.Position()
	return State{
		Version: stateVersion, Task: t.task.Kind(), KernelSet: t.device().KernelSet(), Config: t.config,
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
	path := filepath.Join(dir, stateFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return state, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&state); err != nil {
		return state, fmt.Errorf("%s: %w", path, err)
	}
	if state.Version != stateVersion {
		return state, fmt.Errorf("%s: version is %d, this program reads %d", path, state.Version, stateVersion)
	}
	return state, nil
}

// Resume brings the trainer to where the checkpoint in dir was saved. Nothing
// of the trainer may have run before.
func (t *Trainer) Resume(dir string) error {
	state, err := ReadState(dir)
	if err != nil {
		return err
	}
	if state.Task != t.task.Kind() {
		return fmt.Errorf("%s: it is of a %q run, this is a %q run", filepath.Join(dir, stateFile), state.Task, t.task.Kind())
	}
	if now := t.device().KernelSet(); state.KernelSet != now {
		t.reporter.Message(fmt.Sprintf("the checkpoint was made by %s kernels, these are %s: the run goes on, but not to the same bits", state.KernelSet, now))
	}
	if err := t.task.Load(dir); err != nil {
		return err
	}
	if err := t.restoreMoments(filepath.Join(dir, optimizerFile)); err != nil {
		return err
	}
	if err := t.task.SetPosition(state.Data); err != nil {
		return fmt.Errorf("%s: data: %w", filepath.Join(dir, stateFile), err)
	}
	t.optimizer.SetSteps(state.OptimizerSteps)
	t.random.SetState(state.Random)
	t.progress = state.Progress
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
		return fmt.Errorf("%s: it has %d tensors, the optimizer takes %d", path, have, len(moments))
	}
	for _, m := range moments {
		stored, err := f.Tensor(m.Name)
		if err != nil {
			return err
		}
		if stored.DType() != m.Tensor.DType() || fmt.Sprint(stored.Shape()) != fmt.Sprint(m.Tensor.Shape()) {
			return fmt.Errorf("%s: tensor %q is %v %v, want %v %v", path, m.Name,
				stored.DType(), stored.Shape(), m.Tensor.DType(), m.Tensor.Shape())
		}
		m.Tensor.CopyFrom(stored.ToDevice(m.Tensor.Device()))
	}
	return nil
}
