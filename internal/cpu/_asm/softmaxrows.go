package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// softmaxSet generates softmax and its gradient for an extension.
func softmaxSet(e *extension) {
	isa = e
	defineTailMask(isa.unroll * isa.bytes / 32)
	denseSoftmax()
	denseSoftmaxGrad()
}

// rowsUnroll is how many steps a turn of a pass takes, each with sums of its own.
const rowsUnroll = 2

// denseRows is a kernel on rows of n > 0 floats that follow one another, while it
// is generated. It passes over a row several times while that is in the first
// cache.
type denseRows struct {
	slices           []Register // where the row begins
	rows, off        GPVirtual  // off is in bytes, as are all that follow
	turns, full, row GPVirtual  // the row's whole turns, whole steps, and all of it
	mask             GPVirtual  // where the masks of the last, short step lie
	kept             []Register // those masks, where there are registers
	passes           int
}

// beginDense starts a kernel; its signature ends in (rows, n int).
func beginDense(name, signature string, slices ...string) *denseRows {
	begin(name, signature)
	r := &denseRows{}
	for _, s := range slices {
		r.slices = append(r.slices, Load(Param(s), GP64()))
	}
	r.rows = Load(Param("rows"), GP64()).(GPVirtual)
	n := Load(Param("n"), GP64()).(GPVirtual)
	r.off, r.turns, r.full, r.row, r.mask = GP64(), GP64(), GP64(), GP64(), GP64()
	MOVQ(n, r.row)
	SHLQ(Imm(2), r.row)
	MOVQ(r.row, r.full)
	ANDQ(I32(-r.stepBytes()), r.full)
	MOVQ(r.row, r.turns)
	ANDQ(I32(-rowsUnroll*r.stepBytes()), r.turns)
	LEAQ(tailMask.Offset(tailLen), r.mask)
	SUBQ(r.row, r.mask)
	ADDQ(r.full, r.mask)
	if isa.hoist {
		r.kept = r.loadMasks()
	}
	Label("row")
	return r
}

// next goes on to the next row, or returns behind the last one.
func (r *denseRows) next() {
	for _, s := range r.slices {
		ADDQ(r.row, s)
	}
	DECQ(r.rows)
	JNZ(LabelRef("row"))
	end()
}

func (r *denseRows) stepBytes() int { return isa.bytes * isa.unroll }

func (r *denseRows) loadMasks() []Register {
	masks := make([]Register, isa.unroll)
	for l := range masks {
		masks[l] = isa.loadMask(at(r.mask, isa.bytes*l))
	}
	return masks
}

// rowStep is a step of a pass.
type rowStep struct {
	*denseRows
	u     int        // of the turn
	masks []Register // of the last, short step; nil in the others
}

// pass goes over the row: body for whole steps, and once more for what remains.
func (r *denseRows) pass(body func(s *rowStep)) {
	r.passes++
	label := func(name string) string { return name + string(rune('0'+r.passes)) }
	XORQ(r.off, r.off)
	TESTQ(r.turns, r.turns)
	JZ(LabelRef(label("single")))
	Label(label("turn"))
	for u := range rowsUnroll {
		body(&rowStep{denseRows: r, u: u})
	}
	ADDQ(imm(rowsUnroll*r.stepBytes()), r.off)
	CMPQ(r.off, r.turns)
	JLT(LabelRef(label("turn")))
	Label(label("single"))
	CMPQ(r.off, r.full)
	JGE(LabelRef(label("rest")))
	body(&rowStep{denseRows: r})
	ADDQ(imm(r.stepBytes()), r.off)
	Label(label("rest"))
	CMPQ(r.off, r.row)
	JGE(LabelRef(label("done")))
	s := &rowStep{denseRows: r, masks: r.kept}
	if s.masks == nil {
		s.masks = r.loadMasks()
	}
	body(s)
	Label(label("done"))
}

// place is where lane l of the step's floats of a slice lies.
func (s *rowStep) place(slice, l int) Mem {
	m := indexed(s.slices[slice], s.off, 1)
	m.Disp = s.u*s.stepBytes() + isa.bytes*l
	return m
}

// load reads the step's floats of a slice, zeros beyond the row.
func (s *rowStep) load(slice int) lanes {
	x := newLanes()
	for l, v := range x {
		if s.masks == nil {
			VMOVUPS(s.place(slice, l), v)
		} else {
			isa.load(s.place(slice, l), s.masks[l], v)
		}
	}
	return x
}

// store writes the step's floats of a slice.
func (s *rowStep) store(x lanes, slice int) {
	for l, v := range x {
		if s.masks == nil {
			VMOVUPS(v, s.place(slice, l))
		} else {
			isa.store(v, s.masks[l], s.place(slice, l))
		}
	}
}

// fillRest puts what is in the register beyond the row.
func (s *rowStep) fillRest(x lanes, filler VecVirtual) {
	if s.masks == nil {
		return
	}
	for l, v := range x {
		if isa.bytes == 64 {
			VBLENDMPS(v, filler, s.masks[l], v)
		} else {
			VBLENDVPS(s.masks[l], v, filler, v)
		}
	}
}

// zeroRest sets to zero what is beyond the row.
func (s *rowStep) zeroRest(x lanes) {
	if s.masks == nil {
		return
	}
	for l, v := range x {
		isa.zeroRest(v, s.masks[l], v)
	}
}

// rowSums are partial results, one lanes for each step of a turn.
type rowSums [rowsUnroll]lanes

func newRowSums() (s rowSums) {
	for u := range s {
		s[u] = newLanes()
		for _, v := range s[u] {
			isa.zero(v, v, v)
		}
	}
	return s
}

// total brings the partial results together in the lowest lane.
func (s rowSums) total(op func(...Op)) Register {
	all := s[0]
	for _, more := range s[1:] {
		do(op, more, all, all)
	}
	for _, v := range all[1:] {
		op(v, all[0], all[0])
	}
	return combine(all[0], op)
}

// register32 is a constant in a register.
func register32(x float64) VecVirtual {
	if v, ok := f32(x).(VecVirtual); ok {
		return v
	}
	v := isa.vector()
	VMOVUPS(f32(x), v)
	return v
}

// denseSoftmax is dst = e^(x-m)/sum of those, m the row's largest element. With m
// at least the lowest finite number, and the sum at least the 1 that the largest
// element adds, rows of -Inf become zeros.
func denseSoftmax() {
	r := beginDense("softmaxRows", "func(dst, x *float32, rows, n int)", "dst", "x")
	const dst, x = 0, 1
	lowest := register32(-math.MaxFloat32)
	var most rowSums
	for u := range most {
		most[u] = newLanes()
		do(VMOVAPS, lowest, most[u])
	}
	r.pass(func(s *rowStep) {
		if s.masks == nil {
			s.ahead(x)
			s.ahead(dst)
		}
		v := s.load(x)
		s.fillRest(v, lowest)
		do(VMAXPS, most[s.u], v, most[s.u]) // of a NaN and a number, the first operand is taken
	})
	shift := spread(most.total(VMAXPS))
	sums := newRowSums()
	r.pass(func(s *rowStep) {
		v := s.load(x)
		do(VSUBPS, shift, v, v)
		y := exp32(v)
		s.store(y, dst)
		s.zeroRest(y)
		do(VADDPS, y, sums[s.u], sums[s.u])
	})
	sum, one := sums.total(VADDPS), register32(1).AsX()
	VMAXSS(sum, one, sum) // a NaN stays
	VDIVSS(sum, one, sum)
	factor := spread(sum)
	r.pass(func(s *rowStep) {
		y := s.load(dst)
		do(VMULPS, factor, y, y)
		s.store(y, dst)
	})
	r.next()
}

// denseSoftmaxGrad is dx = y*(dy - sum of y*dy).
func denseSoftmaxGrad() {
	r := beginDense("softmaxGradRows", "func(dx, y, dy *float32, rows, n int)", "dx", "y", "dy")
	const dx, y, dy = 0, 1, 2
	sums := newRowSums()
	r.pass(func(s *rowStep) {
		if s.masks == nil {
			s.ahead(y)
			s.ahead(dy)
			s.ahead(dx)
		}
		a, b := s.load(y), s.load(dy)
		do(VFMADD231PS, a, b, sums[s.u])
	})
	mean := spread(sums.total(VADDPS))
	r.pass(func(s *rowStep) {
		v, a := s.load(dy), s.load(y)
		do(VSUBPS, mean, v, v)
		do(VMULPS, a, v, v)
		s.store(v, dx)
	})
	r.next()
}

// ahead asks for what a later row or step will read or write.
func (s *rowStep) ahead(slice int) {
	m := s.place(slice, 0)
	m.Disp += 2048
	PREFETCHT0(m)
}
