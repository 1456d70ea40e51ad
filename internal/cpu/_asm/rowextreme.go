package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// extreme is the largest or smallest element, NaNs passed over, or what no
// element is beyond; and, if wanted, whether there was a NaN.
func (s *rowSet) extreme(name string, better func(ops ...Op), worst uint32, nan bool) {
	signature := "func(x *float32, n int) float32"
	if nan {
		signature = "func(x *float32, n int) (value float32, nan uint32)"
	}
	r := s.begin(name, signature, false)
	x, start, acc, found := r.arg("x"), r.vec(), s.vectors(4), newFlags(s.bytes)
	bits := GP32()
	MOVL(U32(worst), bits)
	MOVD(bits, start.AsX())
	VBROADCASTSS(start.AsX(), start)
	for _, a := range acc {
		VMOVAPS(start, a)
	}
	r.loop(4, func(u int) {
		v := start
		switch {
		case r.mask == nil:
			v = r.first(x)
		case s.bytes == 64:
			VMOVUPS(r.place(x), r.mask, start)
		default:
			VBLENDVPS(r.mask, r.load(x), start, start)
		}
		if nan {
			found.add(v)
		}
		better(acc[u], v, acc[u]) // of a NaN and a number, the first operand is taken
	})
	better(acc[0], acc[1], acc[0])
	better(acc[2], acc[3], acc[2])
	better(acc[0], acc[2], acc[0])
	best, other := acc[0], acc[1]
	if s.bytes == 64 {
		VEXTRACTF64X4(Imm(1), best, other.AsY())
		better(best.AsY(), other.AsY(), best.AsY())
	}
	VEXTRACTF128(Imm(1), best.AsY(), other.AsX())
	better(best.AsX(), other.AsX(), best.AsX())
	VPERMILPD(Imm(1), best.AsX(), other.AsX())
	better(best.AsX(), other.AsX(), best.AsX())
	VPSHUFD(Imm(1), best.AsX(), other.AsX())
	better(best.AsX(), other.AsX(), best.AsX())
	Store(best.AsX(), ReturnIndex(0))
	if nan {
		Store(found.bits(), ReturnIndex(1))
	}
	r.end()
}

// flags collect in which lanes there was a NaN.
type flags struct {
	vector VecVirtual // AVX2
	mask   OpmaskVirtual
}

func newFlags(bytes int) flags {
	if bytes == 64 {
		f := flags{mask: K()}
		KXORW(f.mask, f.mask, f.mask)
		return f
	}
	f := flags{vector: YMM()}
	VXORPS(f.vector, f.vector, f.vector)
	return f
}

func (f flags) add(v VecVirtual) {
	const unordered = 3
	if f.vector == nil {
		nan := K()
		VCMPPS(Imm(unordered), v, v, nan)
		KORW(nan, f.mask, f.mask)
		return
	}
	nan := YMM()
	VCMPPS(Imm(unordered), v, v, nan)
	VORPS(nan, f.vector, f.vector)
}

func (f flags) bits() Register {
	bits := GP32()
	if f.vector == nil {
		KMOVW(f.mask, bits)
	} else {
		VMOVMSKPS(f.vector, bits)
	}
	return bits
}
