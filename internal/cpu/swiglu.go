package cpu

import (
	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/cpu/vecmath"
	"github.com/stria-ml/stria/internal/parallel"
)

// SwiGLU writes silu(gate)*up (Shazeer 2020).
func (Device) SwiGLU(y, gate, up backend.Operand) {
	if y.DType == backend.Float32 {
		swiGLU(&swiGLUTasks.f32, &y, &gate, &up)
	} else {
		swiGLU(&swiGLUTasks.f64, &y, &gate, &up)
	}
}

// SwiGLUGrad writes the gradients of SwiGLU's gate and up.
func (Device) SwiGLUGrad(dgate, dup, gate, up, dy backend.Operand, accGate, accUp bool) {
	if gate.DType == backend.Float32 {
		swiGLUGrad(&swiGLUGradTasks.f32, &dgate, &dup, &gate, &up, &dy, accGate, accUp)
	} else {
		swiGLUGrad(&swiGLUGradTasks.f64, &dgate, &dup, &gate, &up, &dy, accGate, accUp)
	}
}

var (
	swiGLUTasks     taskLists[swiGLUTask[float32], swiGLUTask[float64]]
	swiGLUGradTasks taskLists[swiGLUGradTask[float32], swiGLUGradTask[float64]]
)

// segment is how many elements SwiGLU treats at a time, so that its scratch
// stays in the first-level cache.
const segment = 1024

type swiGLUTask[T floating] struct {
	y, gate, up lines[T]
	segments
}

func swiGLU[T floating](tasks *freeList[swiGLUTask[T]], y, gate, up *backend.Operand) {
	if y.Len() == 0 {
		return
	}
	t := tasks.get()
	defer tasks.put(t)
	flat := isFlat(y) && isFlat(gate) && isFlat(up)
	t.y.setFlat(y, flat)
	t.gate.setFlat(gate, flat)
	t.up.setFlat(up, flat)
	t.segments = segmentsOf(t.y.n, segment, t.y.count)
	parallel.Run(t, t.chunks())
}

func (t *swiGLUTask[T]) Chunk(i, _ int) {
	s := getScratch[T](3 * segment)
	defer putScratch(s)
	gateBuf, upBuf, yBuf := s.take(segment), s.take(segment), s.take(segment)
	first, end := t.of(i)
	line, _, _ := t.at(first)
	gateAt, upAt, yAt := t.gate.line(line), t.up.line(line), t.y.line(line)
	for p := first; p < end; p++ {
		_, lo, hi := t.at(p)
		y := t.y.part(&yAt, lo, hi, yBuf)
		swiGLURow(y, t.gate.part(&gateAt, lo, hi, gateBuf), t.up.part(&upAt, lo, hi, upBuf))
		t.y.storePart(&yAt, lo, y)
		if hi == t.n {
			t.gate.next(&gateAt)
			t.up.next(&upAt)
			t.y.next(&yAt)
		}
	}
}

// swiGLURow writes silu(gate)*up. y may be gate or up.
func swiGLURow[T floating](y, gate, up []T) {
	if isFloat32[T]() {
		vecmath.SwiGLU(as32(y), as32(gate), as32(up))
		return
	}
	for j, g := range gate {
		y[j] = T(max(float64(g), deep) * logistic(float64(g)) * float64(up[j]))
	}
}

type swiGLUGradTask[T floating] struct {
	dgate, dup, gate, up, dy lines[T]
	accGate, accUp           bool
	segments
}

func swiGLUGrad[T floating](tasks *freeList[swiGLUGradTask[T]], dgate, dup, gate, up, dy *backend.Operand, accGate, accUp bool) {
	if gate.Len() == 0 {
		return
	}
	t := tasks.get()
	defer tasks.put(t)
	flat := isFlat(dgate) && isFlat(dup) && isFlat(gate) && isFlat(up) && isFlat(dy)
	t.dgate.setFlat(dgate, flat)
	t.dup.setFlat(dup, flat)
	t.gate.setFlat(gate, flat)
	t.up.setFlat(up, flat)
	t.dy.setFlat(dy, flat)
	t.accGate, t.accUp = accGate, accUp
	t.segments = segmentsOf(t.gate.n, segment, t.gate.count)
	parallel.Run(t, t.chunks())
}

func (t *swiGLUGradTask[T]) Chunk(i, _ int) {
	s := getScratch[T](7 * segment)
	defer putScratch(s)
	gateBuf, upBuf, dyBuf := s.take(segment), s.take(segment), s.take(segment)
	dgateBuf, dupBuf := s.take(segment), s.take(segment)
	dgateRow, dupRow := s.take(segment), s.take(segment)
	first, end := t.of(i)
	line, _, _ := t.at(first)
	gateAt, upAt, dyAt := t.gate.line(line), t.up.line(line), t.dy.line(line)
	dgateAt, dupAt := t.dgate.line(line), t.dup.line(line)
	for p := first; p < end; p++ {
		_, lo, hi := t.at(p)
		gate, up := t.gate.part(&gateAt, lo, hi, gateBuf), t.up.part(&upAt, lo, hi, upBuf)
		dgate, dup := dgateRow[:hi-lo], dupRow[:hi-lo]
		if inPlace(&t.dgate, t.accGate) {
			dgate = t.dgate.part(&dgateAt, lo, hi, nil)
		}
		if inPlace(&t.dup, t.accUp) {
			dup = t.dup.part(&dupAt, lo, hi, nil)
		}
		swiGLUGradRow(dgate, dup, gate, up, t.dy.part(&dyAt, lo, hi, dyBuf))
		// Others are written only now: the destinations may be the inputs.
		if !inPlace(&t.dgate, t.accGate) {
			t.dgate.deliver(&dgateAt, lo, dgate, dgateBuf, t.accGate)
		}
		if !inPlace(&t.dup, t.accUp) {
			t.dup.deliver(&dupAt, lo, dup, dupBuf, t.accUp)
		}
		if hi == t.n {
			t.gate.next(&gateAt)
			t.up.next(&upAt)
			t.dy.next(&dyAt)
			t.dgate.next(&dgateAt)
			t.dup.next(&dupAt)
		}
	}
}

// inPlace reports whether a kernel may write to the lines' own memory.
func inPlace[T floating](l *lines[T], accumulate bool) bool { return l.step == 1 && !accumulate }

// swiGLUGradRow writes dy*up*silu'(gate) and dy*silu(gate), with silu'(g) =
// s*(1+g*(1-s)) and s the sigmoid of g. dgate and dup may be inputs.
func swiGLUGradRow[T floating](dgate, dup, gate, up, dy []T) {
	if isFloat32[T]() {
		vecmath.SwiGLUGrad(as32(dgate), as32(dup), as32(gate), as32(up), as32(dy))
		return
	}
	for j := range gate {
		g, u, d := float64(gate[j]), float64(up[j]), float64(dy[j])
		s, near := logistic(g), min(max(g, deep), -deep)
		dup[j] = T(d * (max(g, deep) * s))
		dgate[j] = T(d * u * (s * (1 + near*logistic(-g))))
	}
}
