package datasets

import "fmt"

// TrainSource returns the training windows: every run of T+1 training tokens is
// an example, whose targets are its inputs one token later.
func (t *Text) TrainSource() Source {
	return &trainWindows{windows{text: t, ids: t.ids[:t.split], part: "train"}}
}

// ValidationSource returns the validation tokens in windows that do not
// overlap, so that each is a target exactly once. The first is predicted from
// the last training token; the last window may be partial.
func (t *Text) ValidationSource() Source {
	return &evalWindows{windows{text: t, ids: t.ids[t.split-1:], part: "validation"}}
}

// WholeSource returns the whole text in windows that do not overlap: each token
// but the first is a target exactly once. It evaluates a model on a text that
// it was not trained on.
func (t *Text) WholeSource() Source {
	return &evalWindows{windows{text: t, ids: t.ids, part: "whole"}}
}

// windows is a part of a text, to be read through windows of T tokens.
type windows struct {
	text *Text
	ids  []int64
	part string
}

func (w *windows) ID() string {
	t := w.text
	return fmt.Sprintf("text %s %s(%d) tokens=%d train=%d sha256=%s",
		w.part, t.tokenizer.Kind(), t.tokenizer.Size(), len(t.ids), t.split, t.digest)
}

func (w *windows) Context() int { return w.text.context }

// read writes the window that starts at start; past the end of the part it pads.
func (w *windows) read(start int, inputs, targets []int64) {
	n := min(len(inputs), len(w.ids)-1-start)
	copy(inputs, w.ids[start:start+n])
	copy(targets, w.ids[start+1:start+1+n])
	pad(inputs[n:], targets[n:], 0)
}

// trainWindows starts a window at every token that has T tokens after it.
type trainWindows struct{ windows }

func (w *trainWindows) Len() int { return len(w.ids) - w.text.context }

// Order is Sampled: neighbours are nearly equal, and there are as many of them
// as tokens, so going over each once would be no natural unit.
func (w *trainWindows) Order() Order { return Sampled }

func (w *trainWindows) Example(i int, inputs, targets []int64) { w.read(i, inputs, targets) }

// evalWindows starts a window at every T-th token.
type evalWindows struct{ windows }

func (w *evalWindows) Len() int { return ceilDiv(len(w.ids)-1, w.text.context) }

func (w *evalWindows) Order() Order { return Shuffled }

func (w *evalWindows) Example(i int, inputs, targets []int64) {
	w.read(i*w.text.context, inputs, targets)
}
