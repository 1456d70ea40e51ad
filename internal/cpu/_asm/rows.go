package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// rowSet generates the kernels of package rowvec for one vector extension.
type rowSet struct {
	simd
	suffix string
	half   func() VecVirtual // as many floats as a register has float64s
	mask   func(n GPVirtual) Register
}

var (
	rowsAVX2 = rowSet{simd: avx2, suffix: "AVX2", half: XMM, mask: func(n GPVirtual) Register { return masksFirst(n, 1)[0] }}
	rows512  = rowSet{simd: avx512, suffix: "AVX512", half: YMM, mask: firstLanes}
)

func rows() {
	rowsAVX2.generate(&forAVX2)
	prefetch()
}

func rowsWide() { rows512.generate(&forAVX512) }

func (s *rowSet) generate(e *extension) {
	isa = e
	defineTailMask(isa.unroll * isa.bytes / 32)
	expAffine("expAffine", false)
	expAffine("expAffineStream", true)
	s.sum()
	s.dot()
	s.deviation()
	s.normGradSums("normGradSums", false)
	s.normGradSums("normGradSumsAdd", true)
	s.scaleGradSum()
	s.addRow()
	s.addRows4()
	s.extreme("max", VMAXPS, 0xff800000, false)
	s.extreme("maxNaN", VMAXPS, 0xff800000, true)
	s.extreme("minNaN", VMINPS, 0x7f800000, true)
	s.normRow("scaleNorm", false)
	s.normRow("shiftNorm", true)
	s.normGradRow("normGrad", false)
	s.normGradRow("normGradAdd", true)
	s.affine()
	s.softmaxGrad()
	s.subScaled()
	s.rotateHalf()
}

// row is one kernel while it is generated: a loop over the elements of several
// rows, which off runs through in bytes of float32.
type row struct {
	*rowSet
	n, off GPVirtual
	width  int               // floats that a step takes
	vec    func() VecVirtual // a register of width floats
	step   int               // of those in one turn of the loop
	mask   Register          // of the last, short step; nil in the others
}

// begin starts a kernel whose steps take whole registers of floats, or half
// registers where they are to be widened to float64.
func (s *rowSet) begin(name, signature string, widen bool) *row {
	TEXT(name+s.suffix, NOSPLIT, signature)
	r := &row{rowSet: s, width: s.bytes / 4, vec: s.vector}
	if widen {
		r.width, r.vec = s.bytes/8, s.half
	}
	return r
}

// arg loads a pointer.
func (r *row) arg(name string) Register { return Load(Param(name), GP64()) }

// broadcast fills a register with an argument: a float32, or a float64 where
// the kernel widens.
func (r *row) broadcast(name string) VecVirtual {
	m, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	v := r.vec()
	VBROADCASTSS(m.Addr, v)
	return v
}

// loop runs the body for unroll steps a turn, then for single ones, and once
// more, masked, for what remains.
func (r *row) loop(unroll int, body func(u int)) {
	r.n, r.off = Load(Param("n"), GP64()).(GPVirtual), GP64()
	XORQ(r.off, r.off)
	SUBQ(imm(unroll*r.width), r.n)
	JLT(LabelRef("few"))
	Label("many")
	for r.step = range unroll {
		body(r.step)
	}
	ADDQ(imm(4*unroll*r.width), r.off)
	SUBQ(imm(unroll*r.width), r.n)
	JGE(LabelRef("many"))
	Label("few")
	r.step = 0
	ADDQ(imm((unroll-1)*r.width), r.n)
	JLT(LabelRef("rest"))
	Label("single")
	body(0)
	ADDQ(imm(4*r.width), r.off)
	SUBQ(imm(r.width), r.n)
	JGE(LabelRef("single"))
	Label("rest")
	ADDQ(imm(r.width), r.n)
	JZ(LabelRef("done"))
	r.mask = r.rowSet.mask(r.n)
	body(0)
	Label("done")
}

// place is where the step's elements of a row of floats lie.
func (r *row) place(p Register) Mem {
	m := indexed(p, r.off, 1)
	m.Disp = 4 * r.step * r.width
	return m
}

// load reads a step of a row of floats, zeros beyond its end.
func (r *row) load(p Register) VecVirtual {
	v := r.vec()
	if r.mask == nil {
		VMOVUPS(r.place(p), v)
	} else {
		r.simd.load(r.place(p), r.lanes(), v)
	}
	return v
}

// first is load for the kernel that reads a row first. It fetches what lies a
// few rows or steps ahead: sums are soon over, and the processor would wait at
// the next row.
func (r *row) first(p Register) VecVirtual {
	m := r.place(p)
	if r.mask == nil && m.Disp%64 == 0 {
		m.Disp += 1024
		PREFETCHT0(m)
	}
	return r.load(p)
}

// store writes a step of a row of floats.
func (r *row) store(v VecVirtual, p Register) {
	if r.mask == nil {
		VMOVUPS(v, r.place(p))
	} else {
		r.simd.store(v, r.lanes(), r.place(p))
	}
}

// lanes is the mask in the width of a step.
func (r *row) lanes() Register {
	if v, ok := r.mask.(VecVirtual); ok && r.width == 4 {
		return v.AsX()
	}
	return r.mask
}

func (r *row) end() {
	VZEROUPPER()
	RET()
}

// normRow is y = (x-mean)*rstd*w, and + b.
func (s *rowSet) normRow(name string, bias bool) {
	signature := "func(y, x, w *float32, n int, mean, rstd float32)"
	if bias {
		signature = "func(y, x, w, b *float32, n int, mean, rstd float32)"
	}
	r := s.begin(name, signature, false)
	y, x, w := r.arg("y"), r.arg("x"), r.arg("w")
	var b Register
	if bias {
		b = r.arg("b")
	}
	mean, rstd := r.broadcast("mean"), r.broadcast("rstd")
	r.loop(4, func(int) {
		v, weight := r.load(x), r.load(w)
		VSUBPS(mean, v, v)
		VMULPS(rstd, v, v)
		if bias {
			VFMADD213PS(r.load(b), weight, v)
		} else {
			VMULPS(weight, v, v)
		}
		r.store(v, y)
	})
	r.end()
}

// normGradRow is dx (+)= rstd*(w*dy - mean of that - normal*pull).
func (s *rowSet) normGradRow(name string, add bool) {
	r := s.begin(name, "func(dx, x, w, dy *float32, n int, mean, rstd, level, pull float32)", false)
	dx, x, w, dy := r.arg("dx"), r.arg("x"), r.arg("w"), r.arg("dy")
	mean, rstd, level, pull := r.broadcast("mean"), r.broadcast("rstd"), r.broadcast("level"), r.broadcast("pull")
	r.loop(4, func(int) {
		normal, g := r.load(x), r.load(dy)
		VSUBPS(mean, normal, normal)
		VMULPS(rstd, normal, normal)
		VMULPS(r.load(w), g, g)
		VSUBPS(level, g, g)
		VFNMADD231PS(pull, normal, g)
		if add {
			VFMADD213PS(r.load(dx), rstd, g)
		} else {
			VMULPS(rstd, g, g)
		}
		r.store(g, dx)
	})
	r.end()
}

// affine is dst = (x-a)*factor + b.
func (s *rowSet) affine() {
	r := s.begin("affine", "func(dst, x *float32, n int, a, factor, b float32)", false)
	dst, x := r.arg("dst"), r.arg("x")
	a, factor, b := r.broadcast("a"), r.broadcast("factor"), r.broadcast("b")
	r.loop(4, func(int) {
		v := r.load(x)
		VSUBPS(a, v, v)
		VFMADD213PS(b, factor, v)
		r.store(v, dst)
	})
	r.end()
}

// softmaxGrad is dx = y*(dy-mean).
func (s *rowSet) softmaxGrad() {
	r := s.begin("softmaxGrad", "func(dx, y, dy *float32, n int, mean float32)", false)
	dx, y, dy, mean := r.arg("dx"), r.arg("y"), r.arg("dy"), r.broadcast("mean")
	r.loop(4, func(int) {
		v := r.load(dy)
		VSUBPS(mean, v, v)
		VMULPS(r.load(y), v, v)
		r.store(v, dx)
	})
	r.end()
}

// subScaled is dst = x - y*factor.
func (s *rowSet) subScaled() {
	r := s.begin("subScaled", "func(dst, x, y *float32, n int, factor float32)", false)
	dst, x, y, factor := r.arg("dst"), r.arg("x"), r.arg("y"), r.broadcast("factor")
	r.loop(4, func(int) {
		v := r.load(x)
		VFNMADD231PS(r.load(y), factor, v)
		r.store(v, dst)
	})
	r.end()
}

// rotateHalf turns the pairs (a, b) by the angles; sign is the sign bit where
// they are negated.
func (s *rowSet) rotateHalf() {
	r := s.begin("rotateHalf", "func(dstA, dstB, a, b, cos, sin *float32, n int, sign uint32)", false)
	dstA, dstB, a, b := r.arg("dstA"), r.arg("dstB"), r.arg("a"), r.arg("b")
	cos, sin, sign := r.arg("cos"), r.arg("sin"), r.broadcast("sign")
	r.loop(1, func(int) {
		u, v, c, angle, p, q := r.load(a), r.load(b), r.load(cos), r.load(sin), r.vec(), r.vec()
		VXORPS(sign, angle, angle)
		VMULPS(v, angle, p)
		VFMSUB231PS(c, u, p)
		VMULPS(u, angle, q)
		VFMADD231PS(c, v, q)
		r.store(p, dstA)
		r.store(q, dstB)
	})
	r.end()
}
