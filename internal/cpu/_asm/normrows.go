package main

import (
	"fmt"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The kernels of normalisations take a block of dense rows each, so that a call
// costs little. They add up in float32, in the lanes of several registers, and
// only these lanes in float64.

func normRows() { rowsAVX2.generateNormRows(&forAVX2) }

func normRowsWide() { rows512.generateNormRows(&forAVX512) }

func (s *rowSet) generateNormRows(e *extension) {
	isa = e
	defineTailMask(isa.unroll * isa.bytes / 32)
	for _, add := range []bool{false, true} {
		s.squaresRows(add)
		s.momentsRows(add)
	}
	for _, centred := range []bool{false, true} {
		s.normRows(centred)
		s.gradSumsRows(centred)
		s.gradRows(centred, false)
		s.gradRows(centred, true)
	}
}

// prefixed names a kernel of rows that are scaled only, or shifted, too.
func prefixed(centred bool, name string) string {
	if centred {
		return "shift" + name
	}
	return "scale" + name
}

// rowBlock is a kernel over rows of n floats that follow one another.
type rowBlock struct {
	*row
	rows, n GPVirtual
	tail    Register // mask of what is left behind the last whole register
	passes  int      // over a row, so far
}

func (s *rowSet) beginRows(name, signature string) *rowBlock {
	b := &rowBlock{row: s.begin(name, signature, false)}
	b.off = GP64()
	b.rows, b.n = Load(Param("rows"), GP64()).(GPVirtual), Load(Param("n"), GP64()).(GPVirtual)
	rest := GP64()
	MOVQ(b.n, rest)
	ANDQ(imm(b.width-1), rest)
	b.tail = s.mask(rest)
	return b
}

// each runs the body for each row and moves the given pointers on by a row.
func (b *rowBlock) each(body func(), pointers ...Register) {
	Label("row")
	body()
	for _, p := range pointers {
		LEAQ(indexed(p, b.n, 4), p)
	}
	DECQ(b.rows)
	JNZ(LabelRef("row"))
	b.end()
}

// pass is loop for one of several passes over the row.
func (b *rowBlock) pass(unroll int, body func(u int)) {
	b.passes++
	label := func(name string) string { return fmt.Sprintf("%s%d", name, b.passes) }
	left := GP64()
	MOVQ(b.n, left)
	XORQ(b.off, b.off)
	SUBQ(imm(unroll*b.width), left)
	JLT(LabelRef(label("few")))
	Label(label("many"))
	for b.step = range unroll {
		body(b.step)
	}
	ADDQ(imm(4*unroll*b.width), b.off)
	SUBQ(imm(unroll*b.width), left)
	JGE(LabelRef(label("many")))
	Label(label("few"))
	b.step = 0
	ADDQ(imm((unroll-1)*b.width), left)
	JLT(LabelRef(label("rest")))
	Label(label("single"))
	body(0)
	ADDQ(imm(4*b.width), b.off)
	SUBQ(imm(b.width), left)
	JGE(LabelRef(label("single")))
	Label(label("rest"))
	ADDQ(imm(b.width), left)
	JZ(LabelRef(label("done")))
	b.mask = b.tail
	body(0)
	b.mask = nil
	Label(label("done"))
}

// fetch asks for what lies a few rows or steps ahead, in the pass that reads a
// row first: it is soon over, and the next passes read from the first cache.
func (b *rowBlock) fetch(p Register) {
	if m := b.place(p); b.mask == nil && m.Disp%64 == 0 {
		m.Disp += ahead
		PREFETCHT0(m)
	}
}

// ahead is how far fetch looks, in bytes.
const ahead = 4096

// total is the sum of the lanes of the sums, which it changes, in float64.
func (b *rowBlock) total(sums []VecVirtual) Register {
	for s := 1; s < len(sums); s *= 2 {
		for i := 0; i < len(sums); i += 2 * s {
			VADDPS(sums[i+s], sums[i], sums[i])
		}
	}
	lo, hi := widened(isa.half(sums[0])), widened(isa.high(sums[0]))
	VADDPD(hi, lo, lo)
	return b.across(lo)
}

// spread fills a register with the float at m.
func (b *rowBlock) spread(m Mem) VecVirtual {
	v := b.vec()
	VBROADCASTSS(m, v)
	return v
}

// operand is what a kernel of sums reads in its first pass: x, or x + r, which it
// stores to h.
type operand struct {
	*rowBlock
	h, x, r Register // h and r nil for x alone
}

// beginSums starts a kernel of sums of x, or of h = x + r.
func (s *rowSet) beginSums(name, sums, more string, add bool) *operand {
	if !add {
		b := s.beginRows(name, "func("+sums+" *float64, x *float32, rows, n int"+more+")")
		return &operand{rowBlock: b, x: b.arg("x")}
	}
	b := s.beginRows("add"+title(name), "func("+sums+" *float64, h, x, r *float32, rows, n int"+more+")")
	return &operand{b, b.arg("h"), b.arg("x"), b.arg("r")}
}

func title(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

// first is the first pass's step of the operand.
func (o *operand) first() VecVirtual {
	o.fetch(o.x)
	v := o.load(o.x)
	if o.r != nil {
		o.fetch(o.r)
		VADDPS(o.load(o.r), v, v)
		o.store(v, o.h)
	}
	return v
}

// again is a later pass's step.
func (o *operand) again() VecVirtual {
	if o.r != nil {
		return o.load(o.h)
	}
	return o.load(o.x)
}

// each runs the body for each row.
func (o *operand) each(body func()) {
	if o.r != nil {
		o.rowBlock.each(body, o.h, o.x, o.r)
	} else {
		o.rowBlock.each(body, o.x)
	}
}

// squaresRows is each row's sum of x^2.
func (s *rowSet) squaresRows(add bool) {
	b := s.beginSums("squaresRows", "sums", "", add)
	out := b.arg("sums")
	b.each(func() {
		sums := b.sums(8)
		b.pass(8, func(u int) {
			v := b.first()
			VFMADD231PS(v, v, sums[u])
		})
		VMOVSD(b.total(sums), at(out, 0))
		ADDQ(imm(8), out)
	})
}

// momentsRows is about where each row's mean lies, and the sums of x less that
// and of its square.
func (s *rowSet) momentsRows(add bool) {
	b := s.beginSums("momentsRows", "moments", ", inverse float64", add)
	out, inverse := b.arg("moments"), Load(Param("inverse"), XMM())
	b.each(func() {
		sums := b.sums(4)
		b.pass(4, func(u int) { VADDPS(b.first(), sums[u], sums[u]) })
		about, centre := b.total(sums), b.vec()
		VMULSD(inverse, about, about)
		VCVTSD2SS(about, about, about)
		VBROADCASTSS(about, centre)
		VCVTSS2SD(about, about, about)
		VMOVSD(about, at(out, 0))

		sums, squares := b.sums(4), b.sums(4)
		b.pass(4, func(u int) {
			d := b.again()
			VSUBPS(centre, d, d)
			if b.mask != nil {
				isa.zeroRest(d, b.mask, d)
			}
			VADDPS(d, sums[u], sums[u])
			VFMADD231PS(d, d, squares[u])
		})
		VMOVSD(b.total(sums), at(out, 8))
		VMOVSD(b.total(squares), at(out, 16))
		ADDQ(imm(24), out)
	})
}

// normRows is y = x*rstd*w, or (x-mean)*rstd*w + b.
func (s *rowSet) normRows(centred bool) {
	signature := "func(y, x, w *float32, scales *float32, rows, n int)"
	if centred {
		signature = "func(y, x, w, b *float32, scales *float32, rows, n int)"
	}
	b := s.beginRows(prefixed(centred, "NormRows"), signature)
	y, x, w, scales := b.arg("y"), b.arg("x"), b.arg("w"), b.arg("scales")
	var bias Register
	if centred {
		bias = b.arg("b")
	}
	b.each(func() {
		mean, rstd := b.mean(scales, centred), b.spread(at(scales, 4))
		b.pass(4, func(int) {
			v, weight := b.normal(x, mean, rstd), b.load(w)
			if centred {
				VFMADD213PS(b.load(bias), weight, v)
			} else {
				VMULPS(weight, v, v)
			}
			b.store(v, y)
		})
		ADDQ(imm(16), scales)
	}, y, x)
}

// mean is that of the row; nil if rows are scaled only.
func (b *rowBlock) mean(scales Register, centred bool) VecVirtual {
	if !centred {
		return nil
	}
	return b.spread(at(scales, 0))
}

// normal is a step of the normalised row.
func (b *rowBlock) normal(x Register, mean, rstd VecVirtual) VecVirtual {
	v := b.load(x)
	if mean != nil {
		VSUBPS(mean, v, v)
	}
	VMULPS(rstd, v, v)
	return v
}

// gradSumsRows is each row's sums of g = w*dy and of g*normal; it adds
// normal*dy to dw and dy to db.
func (s *rowSet) gradSumsRows(centred bool) {
	signature := "func(sums *float64, dw, x, w, dy *float32, scales *float32, rows, n int)"
	if centred {
		signature = "func(sums *float64, dw, db, x, w, dy *float32, scales *float32, rows, n int)"
	}
	b := s.beginRows(prefixed(centred, "GradSumsRows"), signature)
	out, dw, x, w, dy, scales := b.arg("sums"), b.arg("dw"), b.arg("x"), b.arg("w"), b.arg("dy"), b.arg("scales")
	var db Register
	if centred {
		db = b.arg("db")
	}
	b.each(func() {
		mean, rstd := b.mean(scales, centred), b.spread(at(scales, 4))
		var sums []VecVirtual
		if centred {
			sums = b.sums(4)
		}
		products := b.sums(4)
		b.pass(4, func(u int) {
			b.fetch(x)
			b.fetch(dy)
			normal, grad, acc, g := b.normal(x, mean, rstd), b.load(dy), b.load(dw), b.load(w)
			VFMADD231PS(grad, normal, acc)
			b.store(acc, dw)
			VMULPS(grad, g, g)
			VFMADD231PS(g, normal, products[u])
			if centred {
				VADDPS(g, sums[u], sums[u])
				acc = b.load(db)
				VADDPS(grad, acc, acc)
				b.store(acc, db)
			}
		})
		if centred {
			VMOVSD(b.total(sums), at(out, 0))
		}
		VMOVSD(b.total(products), at(out, 8))
		ADDQ(imm(16), out)
		ADDQ(imm(16), scales)
	}, x, dy)
}

// gradRows is dx (+)= rstd*(w*dy - level - normal*pull).
func (s *rowSet) gradRows(centred, add bool) {
	name := "GradRows"
	if add {
		name = "GradRowsAdd"
	}
	b := s.beginRows(prefixed(centred, name), "func(dx, x, w, dy *float32, scales *float32, rows, n int)")
	dx, x, w, dy, scales := b.arg("dx"), b.arg("x"), b.arg("w"), b.arg("dy"), b.arg("scales")
	b.each(func() {
		mean, rstd, pull := b.mean(scales, centred), b.spread(at(scales, 4)), b.spread(at(scales, 12))
		var level VecVirtual
		if centred {
			level = b.spread(at(scales, 8))
		}
		b.pass(4, func(int) {
			normal, g := b.normal(x, mean, rstd), b.load(dy)
			VMULPS(b.load(w), g, g)
			if centred {
				VSUBPS(level, g, g)
			}
			VFNMADD231PS(pull, normal, g)
			if add {
				VFMADD213PS(b.load(dx), rstd, g)
			} else {
				VMULPS(rstd, g, g)
			}
			b.store(g, dx)
		})
		ADDQ(imm(16), scales)
	}, dx, x, dy)
}
