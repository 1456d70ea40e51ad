package cpu

import (
	"github.com/stria-ml/stria/internal/backend"
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
	s := getScratch[T](4 * segment)
	defer putScratch(s)
	gateBuf, upBuf, yBuf, active := s.take(segment), s.take(segment), s.take(segment), s.take(segment)
	first, end := t.of(i)
	line, _, _ := t.at(first)
	gateAt, upAt, yAt := t.gate.line(line), t.up.line(line), t.y.line(line)
	for p := first; p < end; p++ {
		_, lo, hi := t.at(p)
		gate, up := t.gate.part(&gateAt, lo, hi, gateBuf), t.up.part(&upAt, lo, hi, upBuf)
		y := t.y.part(&yAt, lo, hi, yBuf)
		siluRow(active[:hi-lo], gate)
		for j, v := range active[:hi-lo] {
			y[j] = v * up[j]
		}
		t.y.storePart(&yAt, lo, y)
		if hi == t.n {
			t.gate.next(&gateAt)
			t.up.next(&upAt)
			t.y.next(&yAt)
		}
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
		dy := t.dy.part(&dyAt, lo, hi, dyBuf)
		swiGLUGradRow(dgateRow, dupRow, gate, up, dy)
		// Written only now: the destinations may be the inputs.
		t.dgate.deliver(&dgateAt, lo, dgateRow[:hi-lo], dgateBuf, t.accGate)
		t.dup.deliver(&dupAt, lo, dupRow[:hi-lo], dupBuf, t.accUp)
		if hi == t.n {
			t.gate.next(&gateAt)
			t.up.next(&upAt)
			t.dy.next(&dyAt)
			t.dgate.next(&dgateAt)
			t.dup.next(&dupAt)
		}
	}
}

// swiGLUGradRow writes dy*up*silu'(gate) and dy*silu(gate), with silu'(g) =
// s*(1+g*(1-s)) and s the sigmoid of g.
func swiGLUGradRow[T floating](dgate, dup, gate, up, dy []T) {
	sigmoidRow(dgate, gate)
	dgate, dup, up, dy = dgate[:len(gate)], dup[:len(gate)], up[:len(gate)], dy[:len(gate)]
	for j, g := range gate {
		s := dgate[j]
		dup[j] = dy[j] * (g * s)
		dgate[j] = dy[j] * up[j] * (s * (1 + g*(1-s)))
	}
}
