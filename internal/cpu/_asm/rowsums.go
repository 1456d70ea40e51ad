package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Sums are added up in float64: a step widens half a register of floats.

// widened returns the step's floats as float64.
func (r *row) widened(v VecVirtual) VecVirtual {
	wide := r.vector()
	VCVTPS2PD(v, wide)
	return wide
}

// wideArg fills a register with a float64 argument.
func (r *row) wideArg(name string) VecVirtual {
	m, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	v := r.vector()
	VBROADCASTSD(m.Addr, v)
	return v
}

// sums returns n sums at 0.
func (r *row) sums(n int) []VecVirtual {
	s := r.vectors(n)
	for _, v := range s {
		r.zero(v, v, v)
	}
	return s
}

// returnSum adds up the sums, which it changes, and their lanes.
func (r *row) returnSum(index int, sums []VecVirtual) {
	for s := 1; s < len(sums); s *= 2 {
		for i := 0; i < len(sums); i += 2 * s {
			VADDPD(sums[i+s], sums[i], sums[i])
		}
	}
	Store(r.across(sums[0]), ReturnIndex(index))
}

// across adds up the lanes of sum, which it changes.
func (r *row) across(sum VecVirtual) Register {
	other := r.vector()
	if r.bytes == 64 {
		VEXTRACTF64X4(Imm(1), sum, other.AsY())
		VADDPD(other.AsY(), sum.AsY(), sum.AsY())
	}
	VEXTRACTF128(Imm(1), sum.AsY(), other.AsX())
	VADDPD(other.AsX(), sum.AsX(), sum.AsX())
	VPERMILPD(Imm(1), sum.AsX(), other.AsX())
	VADDPD(other.AsX(), sum.AsX(), sum.AsX())
	return sum.AsX()
}

// sum is that of a row.
func (s *rowSet) sum() {
	r := s.begin("sum", "func(x *float32, n int) float64", true)
	x, sums := r.arg("x"), r.sums(4)
	r.loop(4, func(u int) {
		VADDPD(r.widened(r.first(x)), sums[u], sums[u])
	})
	r.returnSum(0, sums)
	r.end()
}

// dot is the sum of x*y.
func (s *rowSet) dot() {
	r := s.begin("dot", "func(x, y *float32, n int) float64", true)
	x, y, sums := r.arg("x"), r.arg("y"), r.sums(4)
	r.loop(4, func(u int) {
		VFMADD231PD(r.widened(r.first(x)), r.widened(r.first(y)), sums[u])
	})
	r.returnSum(0, sums)
	r.end()
}

// deviation is the sum of (x-centre)^2.
func (s *rowSet) deviation() {
	r := s.begin("deviation", "func(x *float32, n int, centre float64) float64", true)
	x, centre, sums := r.arg("x"), r.wideArg("centre"), r.sums(4)
	r.loop(4, func(u int) {
		d := r.widened(r.first(x))
		switch {
		case r.mask == nil:
			VSUBPD(centre, d, d)
		case s.bytes == 64:
			VSUBPD_Z(centre, d, r.mask, d)
		default:
			wideMask := r.vector()
			VPMOVSXDQ(r.lanes(), wideMask)
			VSUBPD(centre, d, d)
			VANDPD(wideMask, d, d)
		}
		VFMADD231PD(d, d, sums[u])
	})
	r.returnSum(0, sums)
	r.end()
}

// normGradSums returns the sums of g = w*dy and of g*normal, normal =
// (x-mean)*rstd. With add, it adds normal*dy to dw and dy to db.
func (s *rowSet) normGradSums(name string, add bool) {
	signature := "func(x, w, dy *float32, n int, mean, rstd float32) (sum, product float64)"
	if add {
		signature = "func(dw, db *float64, x, w, dy *float32, n int, mean, rstd float32) (sum, product float64)"
	}
	r := s.begin(name, signature, true)
	var dw, db Register
	if add {
		dw, db = r.arg("dw"), r.arg("db")
	}
	x, w, dy := r.arg("x"), r.arg("w"), r.arg("dy")
	mean, rstd := r.broadcast("mean"), r.broadcast("rstd")
	sums, products := r.sums(2), r.sums(2)
	r.loop(2, func(u int) {
		normal, g, grad := r.first(x), r.load(w), r.first(dy)
		VSUBPS(mean, normal, normal)
		VMULPS(rstd, normal, normal)
		VMULPS(grad, g, g)
		VADDPD(r.widened(g), sums[u], sums[u])
		VMULPS(normal, g, g)
		VADDPD(r.widened(g), products[u], products[u])
		if add {
			r.addTo(db, r.widened(grad))
			VMULPS(grad, normal, normal)
			r.addTo(dw, r.widened(normal))
		}
	})
	r.returnSum(0, sums)
	r.returnSum(1, products)
	r.end()
}

// scaleGradSum returns the sum of w*dy*normal, normal = x*rstd, and adds
// normal*dy to dw.
func (s *rowSet) scaleGradSum() {
	r := s.begin("scaleGradSum", "func(dw *float64, x, w, dy *float32, n int, rstd float32) float64", true)
	dw, x, w, dy, rstd := r.arg("dw"), r.arg("x"), r.arg("w"), r.arg("dy"), r.broadcast("rstd")
	products := r.sums(4)
	r.loop(4, func(u int) {
		v := r.first(x)
		VMULPS(rstd, v, v)
		VMULPS(r.first(dy), v, v)
		g := r.load(w)
		VMULPS(v, g, g)
		VADDPD(r.widened(g), products[u], products[u])
		r.addTo(dw, r.widened(v))
	})
	r.returnSum(0, products)
	r.end()
}

// addTo adds a step to a row of float64.
func (r *row) addTo(acc Register, v VecVirtual) {
	m := indexed(acc, r.off, 2)
	m.Disp = 8 * r.step * r.width
	if r.mask == nil {
		VADDPD(m, v, v)
		VMOVUPD(v, m)
		return
	}
	old := r.vector()
	if r.bytes == 64 {
		VMOVUPD_Z(m, r.mask, old)
		VADDPD(old, v, v)
		VMOVUPD(v, r.mask, m)
		return
	}
	wideMask := r.vector()
	VPMOVSXDQ(r.lanes(), wideMask)
	VMASKMOVPD(m, wideMask, old)
	VADDPD(old, v, v)
	VMASKMOVPD(v, wideMask, m)
}

// addRow adds a row of floats to one of float64.
func (s *rowSet) addRow() {
	r := s.begin("addRow", "func(acc *float64, x *float32, n int)", true)
	acc, x := r.arg("acc"), r.arg("x")
	r.loop(4, func(int) { r.addTo(acc, r.widened(r.load(x))) })
	r.end()
}

// addRows4 adds (x0+x1)+(x2+x3).
func (s *rowSet) addRows4() {
	r := s.begin("addRows4", "func(acc *float64, x0, x1, x2, x3 *float32, n int)", true)
	acc := r.arg("acc")
	rows := [4]Register{r.arg("x0"), r.arg("x1"), r.arg("x2"), r.arg("x3")}
	r.loop(2, func(int) {
		var v [4]VecVirtual
		for i, x := range rows {
			v[i] = r.widened(r.load(x))
		}
		VADDPD(v[1], v[0], v[0])
		VADDPD(v[3], v[2], v[2])
		VADDPD(v[2], v[0], v[0])
		r.addTo(acc, v[0])
	})
	r.end()
}
