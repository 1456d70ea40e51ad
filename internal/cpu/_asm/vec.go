package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// vecSet generates the kernels of package vec for one vector extension.
type vecSet struct {
	simd
	suffix string
	first  func(n GPVirtual) Register // the mask of the first n lanes
}

var (
	vecAVX2   = vecSet{avx2, "AVX2", func(n GPVirtual) Register { return masksFirst(n, 1)[0] }}
	vecAVX512 = vecSet{avx512, "AVX512", firstLanes}
)

func vec() {
	defineTailMask(1)
	vecAVX2.generate()
	transposes(avx2, "AVX2", (*transposeBlock).narrow)
}

func vec512() {
	vecAVX512.generate()
	transposes(avx512, "AVX512", (*transposeBlock).wide)
}

func (s *vecSet) generate() {
	for _, op := range []struct {
		name     string
		commutes bool
		f        func(x, y VecVirtual) VecVirtual
	}{
		{"add", true, s.simple(VADDPS)},
		{"sub", false, s.simple(VSUBPS)},
		{"mul", true, s.simple(VMULPS)},
		{"div", false, s.simple(VDIVPS)},
		{"maximum", true, func(x, y VecVirtual) VecVirtual { return s.extremum(x, y, VMAXPS, s.and) }},
		{"minimum", true, func(x, y VecVirtual) VecVirtual { return s.extremum(x, y, VMINPS, s.or) }},
	} {
		s.elementwise(op.name, vecShape{in: []string{"x", "y"}, out: []string{"dst"}}, func(v, _ []VecVirtual) []VecVirtual {
			return []VecVirtual{op.f(v[0], v[1])}
		})
		s.elementwise(op.name+"Scalar", vecShape{in: []string{"x"}, out: []string{"dst"}, scalars: []string{"y"}}, func(v, c []VecVirtual) []VecVirtual {
			return []VecVirtual{op.f(v[0], c[0])}
		})
		if !op.commutes {
			s.elementwise(op.name+"From", vecShape{in: []string{"y"}, out: []string{"dst"}, scalars: []string{"x"}}, func(v, c []VecVirtual) []VecVirtual {
				return []VecVirtual{op.f(c[0], v[0])}
			})
		}
	}
	s.elementwise("addScaled", vecShape{in: []string{"x", "y"}, out: []string{"dst"}, scalars: []string{"alpha"}}, func(v, c []VecVirtual) []VecVirtual {
		return []VecVirtual{s.simple(VADDPS)(v[0], s.simple(VMULPS)(c[0], v[1]))}
	})
	s.unary("sqrt", func(x, y VecVirtual) { VSQRTPS(x, y) })
	s.unary("abs", func(x, y VecVirtual) { VANDPS(s.repeated(1<<31-1), x, y) })
	s.unary("neg", func(x, y VecVirtual) { VXORPS(s.repeated(1<<31), x, y) })
	s.reluGrad()
	s.adamW()
	s.copyRows()
	s.choices()
	s.halves()
	s.random()
}

// vecShape is what a kernel takes: vectors to read and to write, by the name of
// the pointer, and numbers.
type vecShape struct {
	in, out, scalars []string
	unroll           int // 4 if 0
}

// elementwise generates a kernel over n floats, n > 0. It applies f, which gets
// vectors of the inputs and of the repeated scalars, and returns those to write.
func (s *vecSet) elementwise(name string, shape vecShape, f func(v, c []VecVirtual) []VecVirtual) {
	k := s.begin(name, shape)
	k.loop(max(shape.unroll, 4), f)
}

// vecKernel is a kernel while it is generated.
type vecKernel struct {
	*vecSet
	in, out []GPVirtual
	c       []VecVirtual
	n, off  GPVirtual
}

// begin generates a kernel's head: it loads pointers and scalars.
func (s *vecSet) begin(name string, shape vecShape) *vecKernel {
	k := &vecKernel{vecSet: s}
	signature := ""
	for _, p := range append(append([]string(nil), shape.out...), shape.in...) {
		signature += p + ", "
	}
	signature = signature[:len(signature)-2] + " *float32, n int"
	for _, c := range shape.scalars {
		signature += ", " + c + " float32"
	}
	TEXT(name+s.suffix, NOSPLIT, "func("+signature+")")
	Pragma("noescape")
	for _, p := range shape.out {
		k.out = append(k.out, Load(Param(p), GP64()).(GPVirtual))
	}
	for _, p := range shape.in {
		k.in = append(k.in, Load(Param(p), GP64()).(GPVirtual))
	}
	k.n = Load(Param("n"), GP64()).(GPVirtual)
	for _, c := range shape.scalars {
		k.c = append(k.c, k.broadcast(Load(Param(c), XMM())))
	}
	return k
}

// broadcast repeats a number in all lanes.
func (s *vecSet) broadcast(x Op) VecVirtual {
	r := s.vector()
	VBROADCASTSS(x, r)
	return r
}

// loop generates the loop over all elements: unroll vectors at a time, then one,
// then what remains.
func (k *vecKernel) loop(unroll int, f func(v, c []VecVirtual) []VecVirtual) {
	lanes := k.bytes / 4
	k.off = GP64()
	XORQ(k.off, k.off)
	k.turns("many", unroll*lanes, func() {
		for i := range unroll {
			k.step(i*k.bytes, nil, f)
		}
	})
	k.turns("one", lanes, func() { k.step(0, nil, f) })
	TESTQ(k.n, k.n)
	JZ(LabelRef("done"))
	k.step(0, k.first(k.n), f)
	Label("done")
	VZEROUPPER()
	RET()
}

// turns generates a loop that does count elements in a turn, while there are as
// many.
func (k *vecKernel) turns(label string, count int, body func()) {
	SUBQ(imm(count), k.n)
	JLT(LabelRef(label + "Done"))
	Label(label)
	body()
	ADDQ(imm(4*count), k.off)
	SUBQ(imm(count), k.n)
	JGE(LabelRef(label))
	Label(label + "Done")
	ADDQ(imm(count), k.n)
}

// step applies f to one vector of each input, d bytes on.
func (k *vecKernel) step(d int, mask Register, f func(v, c []VecVirtual) []VecVirtual) {
	v := make([]VecVirtual, len(k.in))
	for i, p := range k.in {
		v[i] = k.vector()
		if m := indexed(p, k.off, 1).Offset(d); mask == nil {
			VMOVUPS(m, v[i])
		} else {
			k.load(m, mask, v[i])
		}
	}
	for i, r := range f(v, k.c) {
		if m := indexed(k.out[i], k.off, 1).Offset(d); mask == nil {
			VMOVUPS(r, m)
		} else {
			k.store(r, mask, m)
		}
	}
}

// simple is a function of one instruction that takes its operands in reverse.
func (s *vecSet) simple(instruction func(ops ...Op)) func(x, y VecVirtual) VecVirtual {
	return func(x, y VecVirtual) VecVirtual {
		r := s.vector()
		instruction(y, x, r)
		return r
	}
}

func (s *vecSet) and(x, y, r Op) {
	if s.bytes == 64 {
		VPANDD(x, y, r)
	} else {
		VANDPS(x, y, r)
	}
}

func (s *vecSet) or(x, y, r Op) {
	if s.bytes == 64 {
		VPORD(x, y, r)
	} else {
		VORPS(x, y, r)
	}
}

// extremum is the larger or the smaller of two numbers, NaN if one of them is,
// and of two zeros the positive or the negative one. The instruction returns
// its second operand for two zeros and for a NaN, so both orders are
// taken: where these differ, join finds the right zero, or x+y is the NaN.
func (s *vecSet) extremum(x, y VecVirtual, instruction func(ops ...Op), join func(x, y, r Op)) VecVirtual {
	const unordered = 3
	xy, yx, nan := s.vector(), s.vector(), s.vector()
	instruction(x, y, xy)
	instruction(y, x, yx)
	join(xy, yx, xy)
	VADDPS(x, y, nan)
	if s.bytes == 64 {
		mask := K()
		VCMPPS(U8(unordered), x, y, mask)
		VMOVAPS(nan, mask, xy)
	} else {
		mask := s.vector()
		VCMPPS(U8(unordered), x, y, mask)
		VBLENDVPS(mask, nan, xy, xy)
	}
	return xy
}

// unary generates a function of one vector.
func (s *vecSet) unary(name string, f func(x, y VecVirtual)) {
	s.elementwise(name, vecShape{in: []string{"x"}, out: []string{"dst"}}, func(v, _ []VecVirtual) []VecVirtual {
		y := s.vector()
		f(v[0], y)
		return []VecVirtual{y}
	})
}

// adamW generates one step of AdamW. The numbers are those of the struct at
// step, in its order.
func (s *vecSet) adamW() {
	TEXT("adamW"+s.suffix, NOSPLIT, "func(w, m, v, grad *float32, n int, step *float32)")
	Pragma("noescape")
	k := &vecKernel{vecSet: s}
	for _, p := range []string{"w", "m", "v", "grad"} {
		k.in = append(k.in, Load(Param(p), GP64()).(GPVirtual))
	}
	k.out = k.in[:3]
	k.n = Load(Param("n"), GP64()).(GPVirtual)
	step := Load(Param("step"), GP64())
	for i := range 9 {
		k.c = append(k.c, k.broadcast(at(step, 4*i)))
	}
	mul, add := s.simple(VMULPS), s.simple(VADDPS)
	k.loop(2, func(v, c []VecVirtual) []VecVirtual {
		keep, beta1, rest1, beta2, rest2, scale, correction, eps, size := c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8]
		w, m, square, g := v[0], v[1], v[2], v[3]
		VMULPS(scale, g, g)
		VMULPS(beta1, m, m)
		VADDPS(mul(rest1, g), m, m)
		VMULPS(beta2, square, square)
		VADDPS(mul(mul(rest2, g), g), square, square)
		root := s.vector()
		VSQRTPS(square, root)
		VMULPS(correction, root, root)
		VDIVPS(add(root, eps), m, root)
		VMULPS(size, root, root)
		VMULPS(keep, w, w)
		VSUBPS(root, w, w)
		return []VecVirtual{w, m, square}
	})
}

// copyRows generates copies of rows of whole cache lines, which fetch what lies
// ahead bytes from those that they read.
func (s *vecSet) copyRows() {
	for _, stream := range []bool{false, true} {
		TEXT(streamName("copyRows", stream)+s.suffix, NOSPLIT, "func(dst *byte, ds int, src *byte, ss, rows, lines, ahead int)")
		Pragma("noescape")
		dst, ds := Load(Param("dst"), GP64()), Load(Param("ds"), GP64())
		src, ss := Load(Param("src"), GP64()), Load(Param("ss"), GP64())
		rows, lines := Load(Param("rows"), GP64()), Load(Param("lines"), GP64())
		ahead := Load(Param("ahead"), GP64())
		d, p, n := GP64(), GP64(), GP64()
		Label("row")
		MOVQ(dst, d)
		MOVQ(src, p)
		MOVQ(lines, n)
		Label("line")
		if stream {
			PREFETCHNTA(indexed(p, ahead, 1))
		} else {
			PREFETCHT0(indexed(p, ahead, 1))
		}
		for i := 0; i < 64; i += s.bytes {
			r := s.vector()
			VMOVUPS(at(p, i), r)
			storeOrStream(r, at(d, i), stream)
		}
		ADDQ(Imm(64), p)
		ADDQ(Imm(64), d)
		DECQ(n)
		JNZ(LabelRef("line"))
		ADDQ(ss, src)
		ADDQ(ds, dst)
		DECQ(rows)
		JNZ(LabelRef("row"))
		if stream {
			SFENCE()
		}
		VZEROUPPER()
		RET()
	}
}
