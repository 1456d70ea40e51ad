package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Offsets in the Go struct rowArgs of package scores.
const (
	rowX       = 0
	rowY       = 8
	rowFirst   = 16
	rowSecond  = 24
	rowStrideX = 32
	rowStrideY = 40
	rowCount   = 48
	rowBytes   = 56
	rowLo      = 64
	rowHi      = 72
	rowLoStep  = 80
	rowHiStep  = 88
	rowMax     = 96
	rowTail    = 104
	rowMask    = 112
)

// scores generates the kernels of package scores for AVX2. Its products are tiles
// that read A in place.
func scores() {
	for rows := 1; rows <= 6; rows++ {
		newTile(fmt.Sprintf("product%dx16", rows), avx2, rows, 2, false).strided(4)
		newTile(fmt.Sprintf("product%dx16m", rows), avx2, rows, 2, true).strided(4)
		newTile(fmt.Sprintf("product%dx8m", rows), avx2, rows, 1, true).strided(4)
	}
	defineTailMask(1)
	transpose8xN()
	scoreRows(forAVX2)
}

// scores512 is scores for AVX-512.
func scores512() {
	for rows := 1; rows <= 12; rows++ {
		newTile(fmt.Sprintf("product%dx32m", rows), avx512, rows, 2, true).strided(2)
		newTile(fmt.Sprintf("product%dx16n", rows), avx512, rows, 1, true).strided(4)
	}
	transpose16xN()
	scoreRows(forAVX512)
}

func scoreRows(e extension) {
	e.unroll = 1
	isa = &e
	softmaxRows()
	softmaxGradRows()
	scaleRows()
	dotRows()
}

// rowLoop is a kernel on rows of whole vectors.
type rowLoop struct {
	args, x, y, first, second, off GPVirtual
}

func beginRows(name string) *rowLoop {
	begin(name, "func(args *uint64)")
	s := &rowLoop{args: Load(Param("args"), GP64()).(GPVirtual), off: GP64()}
	s.x, s.y, s.first, s.second = s.arg(rowX), s.arg(rowY), s.arg(rowFirst), s.arg(rowSecond)
	return s
}

func (s *rowLoop) arg(offset int) GPVirtual {
	r := GP64()
	MOVQ(at(s.args, offset), r)
	return r
}

// eachRow emits body in a loop over rows, at least one. first and second go
// through the floats that belong to rows.
func (s *rowLoop) eachRow(body func()) {
	Label("row")
	body()
	ADDQ(at(s.args, rowStrideX), s.x)
	ADDQ(at(s.args, rowStrideY), s.y)
	ADDQ(Imm(4), s.first)
	ADDQ(Imm(4), s.second)
	DECQ(at(s.args, rowCount))
	JNZ(LabelRef("row"))
	end()
}

// eachVector emits body in a loop over the vectors of a row, at least one.
func (s *rowLoop) eachVector(label string, body func()) {
	XORQ(s.off, s.off)
	Label(label)
	body()
	ADDQ(imm(isa.bytes), s.off)
	CMPQ(s.off, at(s.args, rowBytes))
	JLT(LabelRef(label))
}

// window is what rows see: columns from lo on, below hi and below a maximum. From one
// row to the next lo and hi move on by their steps.
type window struct {
	index, lo, hi VecVirtual
}

func (s *rowLoop) window() window {
	w := window{isa.vector(), isa.vector(), isa.vector()}
	hi, limit := s.arg(rowHi), s.arg(rowMax)
	CMPQ(hi, limit)
	CMOVQGT(limit, hi)
	broadcastInt(hi, w.hi)
	broadcastInt(s.arg(rowLo), w.lo)
	step := GP64()
	for _, at2 := range [][2]int{{rowHiStep, rowHi}, {rowLoStep, rowLo}} {
		MOVQ(at(s.args, at2[0]), step)
		ADDQ(step, at(s.args, at2[1]))
	}
	return w
}

// restart begins another loop over the row's columns.
func (w *window) restart() {
	columns := readOnly("columns", isa.bytes, 4, func(i int) Constant { return U32(uint32(i)) })
	VMOVUPS(columns, w.index)
}

// visible returns the mask of the vector's columns that are seen, and goes on.
func (w *window) visible() Register {
	defer VPADDD(words(uint32(isa.bytes/4)), w.index, w.index)
	if isa.hoist {
		below, both := K(), K()
		VPCMPD(Imm(1), w.hi, w.index, below)
		VPCMPD(Imm(5), w.lo, w.index, below, both)
		return both
	}
	below, before := YMM(), YMM()
	VPCMPGTD(w.index, w.hi, below)
	VPCMPGTD(w.index, w.lo, before)
	VPANDN(below, before, below)
	return below
}

func broadcastInt(x GPVirtual, r VecVirtual) {
	if isa.hoist {
		VPBROADCASTD(x.As32(), r)
		return
	}
	MOVD(x.As32(), r.AsX())
	VPBROADCASTD(r.AsX(), r)
}

// loadOr reads a vector, lowest where the mask is off.
func loadOr(m Mem, mask Register, lowest, r VecVirtual) {
	if isa.hoist {
		VMOVAPS(lowest, r)
		VMOVUPS(m, mask, r)
		return
	}
	VMOVUPS(m, r)
	VBLENDVPS(mask, r, lowest, r)
}

// combine returns all elements of a vector combined, in the first of each four.
func combine(r VecVirtual, op func(...Op)) Register {
	if isa.bytes == 64 {
		op(isa.high(r), r.AsY(), r.AsY())
	}
	half, x := XMM(), r.AsX()
	VEXTRACTF128(Imm(1), r.AsY(), half)
	op(half, x, x)
	for _, swap := range []uint64{0x4e, 0xb1} {
		VPERMILPS(Imm(swap), x, half)
		op(half, x, x)
	}
	return x
}

// spread returns a vector of the first element of x.
func spread(x Register) VecVirtual {
	r := isa.vector()
	VBROADCASTSS(x, r)
	return r
}

// spreadFloat returns a vector of the float32 at p.
func spreadFloat(p Register) VecVirtual {
	r := isa.vector()
	VBROADCASTSS(at(p, 0), r)
	return r
}

// softmaxRows replaces the rows of x by e^(x-top), 0 where they see nothing, with top
// (first) the largest element seen or its old value, if that is larger, and
// writes the sums (second). A top of -Inf counts as 0, so that what sees only
// -Inf becomes 0.
func softmaxRows() {
	s := beginRows("softmaxRows")
	lowest := isa.vector()
	s.eachRow(func() {
		VMOVUPS(words(math.Float32bits(float32(math.Inf(-1)))), lowest)
		w, x, top := s.window(), isa.vector(), isa.vector()
		w.restart()
		VMOVAPS(lowest, top)
		s.eachVector("max", func() {
			loadOr(indexed(s.x, s.off, 1), w.visible(), lowest, x)
			VMAXPS(top, x, top) // of a NaN and a number, the first operand is taken
		})
		largest := combine(top, func(ops ...Op) { VMAXPS(ops[0], ops[1], ops[2]) })
		VMAXSS(at(s.first, 0), largest, largest)
		VMOVSS(largest, at(s.first, 0))
		shift, sum := spread(largest), isa.vector()
		zeroWhereEqual(shift, lowest)
		isa.zero(sum, sum, sum)
		w.restart()
		s.eachVector("exp", func() {
			loadOr(indexed(s.x, s.off, 1), w.visible(), lowest, x)
			VSUBPS(shift, x, x)
			p := exp32(lanes{x})[0]
			VMOVUPS(p, indexed(s.x, s.off, 1))
			VADDPS(p, sum, sum)
		})
		VMOVSS(combine(sum, func(ops ...Op) { VADDPS(ops[0], ops[1], ops[2]) }), at(s.second, 0))
	})
}

// zeroWhereEqual sets to zero the elements of x that equal those of y.
func zeroWhereEqual(x, y VecVirtual) {
	if isa.hoist {
		different := K()
		VCMPPS(Imm(isNotEqual), y, x, different)
		VMOVAPS_Z(x, different, x)
		return
	}
	equal := YMM()
	VCMPPS(Imm(isEqual), y, x, equal)
	VANDNPS(x, equal, x)
}

// isNotEqual is a predicate of VCMPPS: not equal, or NaN.
const isNotEqual = 4

// softmaxGradRows replaces scores x by the weights p = e^(x-shift), 0 where rows see
// nothing, and their gradients y by p*(y-delta), the gradients of the scores;
// shift is first, delta second.
func softmaxGradRows() {
	s := beginRows("softmaxGradRows")
	lowest := isa.vector()
	s.eachRow(func() {
		VMOVUPS(words(math.Float32bits(float32(math.Inf(-1)))), lowest)
		w, x := s.window(), isa.vector()
		shift, delta := spreadFloat(s.first), spreadFloat(s.second)
		w.restart()
		s.eachVector("vector", func() {
			visible := w.visible()
			loadOr(indexed(s.x, s.off, 1), visible, lowest, x)
			VSUBPS(shift, x, x)
			p := exp32(lanes{x})[0]
			VMOVUPS(p, indexed(s.x, s.off, 1))
			y := isa.vector()
			VMOVUPS(indexed(s.y, s.off, 1), y)
			VSUBPS(delta, y, y)
			VMULPS(p, y, y)
			isa.zeroRest(y, visible, y)
			VMOVUPS(y, indexed(s.y, s.off, 1))
		})
	})
}

// scaleRows multiplies the rows of x by factors (first).
func scaleRows() {
	s := beginRows("scaleRows")
	tail := isa.loadMask(at(s.args, rowMask))
	s.eachRow(func() {
		factor, x := spreadFloat(s.first), isa.vector()
		s.eachVectorMasked(tail, func(masked bool) {
			m := indexed(s.x, s.off, 1)
			if masked {
				isa.load(m, tail, x)
			} else {
				VMOVUPS(m, x)
			}
			VMULPS(factor, x, x)
			if masked {
				isa.store(x, tail, m)
			} else {
				VMOVUPS(x, m)
			}
		})
	})
}

// dotRows writes the sums of x*y over rows to first.
func dotRows() {
	s := beginRows("dotRows")
	tail := isa.loadMask(at(s.args, rowMask))
	s.eachRow(func() {
		sum, x, y := isa.vector(), isa.vector(), isa.vector()
		isa.zero(sum, sum, sum)
		s.eachVectorMasked(tail, func(masked bool) {
			if masked {
				isa.load(indexed(s.x, s.off, 1), tail, x)
				isa.load(indexed(s.y, s.off, 1), tail, y)
			} else {
				VMOVUPS(indexed(s.x, s.off, 1), x)
				VMOVUPS(indexed(s.y, s.off, 1), y)
			}
			VFMADD231PS(x, y, sum)
		})
		VMOVSS(combine(sum, func(ops ...Op) { VADDPS(ops[0], ops[1], ops[2]) }), at(s.first, 0))
	})
}

// eachVectorMasked emits body for the whole vectors of a row and, masked, for what
// remains; either may be none.
func (s *rowLoop) eachVectorMasked(tail Register, body func(masked bool)) {
	XORQ(s.off, s.off)
	CMPQ(at(s.args, rowBytes), Imm(0))
	JEQ(LabelRef("tail"))
	Label("whole")
	body(false)
	ADDQ(imm(isa.bytes), s.off)
	CMPQ(s.off, at(s.args, rowBytes))
	JLT(LabelRef("whole"))
	Label("tail")
	CMPQ(at(s.args, rowTail), Imm(0))
	JEQ(LabelRef("next"))
	body(true)
	Label("next")
}
