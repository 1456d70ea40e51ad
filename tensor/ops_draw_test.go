package tensor

import "pgregory.net/rapid"

// unaryCall and binaryCall are calls of two forms.
func unaryCall(f unaryForms, dtype, result DType, shape []int) call {
	return call{
		in: []spec{{dtype: dtype, shape: shape}}, out: spec{dtype: result, shape: shape},
		plain: func(in []*Tensor) *Tensor { return f.plain(in[0]) },
		into:  func(dst *Tensor, in []*Tensor) { f.into(dst, in[0]) },
	}
}

func binaryCall(f binaryForms, dtype, result DType, shapes [][]int, out []int) call {
	return call{
		in: []spec{{dtype: dtype, shape: shapes[0]}, {dtype: dtype, shape: shapes[1]}}, out: spec{dtype: result, shape: out},
		plain: func(in []*Tensor) *Tensor { return f.plain(in[0], in[1]) },
		into:  func(dst *Tensor, in []*Tensor) { f.into(dst, in[0], in[1]) },
	}
}

// drawBroadcast draws n shapes that broadcast to one, by leaving out dims of it.
func drawBroadcast(t *rapid.T, n int) (shapes [][]int, out []int) {
	full := drawShape(t)
	out = make([]int, 0, len(full))
	for range n {
		shape := append([]int{}, full[rapid.IntRange(0, len(full)).Draw(t, "lead"):]...)
		for axis := range shape {
			if rapid.IntRange(0, 3).Draw(t, "stretch") == 0 {
				shape[axis] = 1
			}
		}
		shapes = append(shapes, shape)
	}
	// By definition: an extent is the one that is not 1, from the right.
	for axis := range full {
		extent, present := 1, false
		for _, shape := range shapes {
			if i := len(shape) - len(full) + axis; i >= 0 {
				present = true
				if shape[i] != 1 {
					extent = shape[i]
				}
			}
		}
		if present {
			out = append(out, extent)
		}
	}
	return shapes, out
}

func drawUnary(t *rapid.T, f unaryForms, dtype DType) call {
	return unaryCall(f, dtype, dtype, drawShape(t))
}

func drawNot(t *rapid.T) call {
	return unaryCall(unaryForms{(*Tensor).Not, NotInto}, Bool, Bool, drawShape(t))
}

func drawIsNaN(t *rapid.T) call {
	return unaryCall(unaryForms{(*Tensor).IsNaN, IsNaNInto}, drawFloat(t), Bool, drawShape(t))
}

func drawBinary(t *rapid.T, f binaryForms, dtype DType) call {
	shapes, out := drawBroadcast(t, 2)
	return binaryCall(f, dtype, dtype, shapes, out)
}

// drawPow draws floats: integers would need exponents from 0 on.
func drawPow(t *rapid.T) call {
	return drawBinary(t, binaryForms{(*Tensor).Pow, PowInto}, drawFloat(t))
}

func drawCompare(t *rapid.T, f binaryForms) call {
	shapes, out := drawBroadcast(t, 2)
	return binaryCall(f, drawComputing(t), Bool, shapes, out)
}

func drawWhere(t *rapid.T) call {
	shapes, out := drawBroadcast(t, 3)
	dtype := drawComputing(t)
	return call{
		in:    []spec{{dtype: Bool, shape: shapes[0]}, {dtype: dtype, shape: shapes[1]}, {dtype: dtype, shape: shapes[2]}},
		out:   spec{dtype: dtype, shape: out},
		plain: func(in []*Tensor) *Tensor { return Where(in[0], in[1], in[2]) },
		into:  func(dst *Tensor, in []*Tensor) { WhereInto(dst, in[0], in[1], in[2]) },
	}
}

func drawMaskedFill(t *rapid.T) call {
	shapes, out := drawBroadcast(t, 2)
	dtype := drawComputing(t)
	return call{
		in: []spec{{dtype: dtype, shape: shapes[0]}, {dtype: Bool, shape: shapes[1]}}, out: spec{dtype: dtype, shape: out},
		plain: func(in []*Tensor) *Tensor { return in[0].MaskedFill(in[1], 7) },
		into:  func(dst *Tensor, in []*Tensor) { MaskedFillInto(dst, in[0], in[1], 7) },
	}
}

func drawTril(t *rapid.T) call { return drawTriangle(t, (*Tensor).Tril, TrilInto) }

func drawTriu(t *rapid.T) call { return drawTriangle(t, (*Tensor).Triu, TriuInto) }

func drawTriangle(t *rapid.T, plain func(*Tensor, int) *Tensor, into func(dst, x *Tensor, diagonal int)) call {
	shape := append(drawShape(t), extents.Draw(t, "rows"), extents.Draw(t, "columns"))
	diagonal := rapid.IntRange(-6, 6).Draw(t, "diagonal")
	dtype := drawComputing(t)
	return unaryCall(unaryForms{func(x *Tensor) *Tensor { return plain(x, diagonal) },
		func(dst, x *Tensor) { into(dst, x, diagonal) }}, dtype, dtype, shape)
}

// drawFull draws a shape without empty dims.
func drawFull(t *rapid.T) []int {
	shape := drawShape(t)
	for axis := range shape {
		shape[axis] = max(shape[axis], 1)
	}
	return shape
}

func drawReduce(t *rapid.T, f reduceForms, dtype DType) call {
	shape := drawFull(t)
	keepDim := rapid.Bool().Draw(t, "keepdim")
	var dims, out []int
	for axis, extent := range shape {
		reduced := rapid.Bool().Draw(t, "reduced")
		if reduced {
			dims = append(dims, axis-len(shape)*rapid.IntRange(0, 1).Draw(t, "negative"))
		}
		switch {
		case !reduced:
			out = append(out, extent)
		case keepDim:
			out = append(out, 1)
		}
	}
	if len(dims) == 0 {
		out = nil
		for range shape {
			if keepDim {
				out = append(out, 1)
			}
		}
	}
	return call{
		in: []spec{{dtype: dtype, shape: shape}}, out: spec{dtype: dtype, shape: out},
		plain: func(in []*Tensor) *Tensor {
			if keepDim {
				return f.keep(in[0], dims...)
			}
			return f.plain(in[0], dims...)
		},
		into: func(dst *Tensor, in []*Tensor) { f.into(dst, in[0], dims...) },
	}
}

// drawAlong draws a shape of at least one dim, and one of its dims.
func drawAlong(t *rapid.T, shape []int) (grown []int, axis, dim int) {
	grown = append(shape, rapid.IntRange(1, 5).Draw(t, "last"))
	axis, dim = drawDim(t, len(grown))
	return grown, axis, dim
}

func drawArg(t *rapid.T, f alongForms) call {
	shape, axis, dim := drawAlong(t, drawFull(t))
	plain, out := f.plain, without(shape, axis)
	if rapid.Bool().Draw(t, "keepdim") {
		plain, out = f.keep, with(out, axis, 1)
	}
	return call{
		in: []spec{{dtype: drawNumber(t), shape: shape}}, out: spec{dtype: Int64, shape: out},
		plain: func(in []*Tensor) *Tensor { return plain(in[0], dim) },
		into:  func(dst *Tensor, in []*Tensor) { f.into(dst, in[0], dim) },
	}
}

func drawCumSum(t *rapid.T) call {
	shape, _, dim := drawAlong(t, drawShape(t))
	dtype := drawNumber(t)
	return unaryCall(unaryForms{func(x *Tensor) *Tensor { return x.CumSum(dim) },
		func(dst, x *Tensor) { CumSumInto(dst, x, dim) }}, dtype, dtype, shape)
}

func drawSoftmax(t *rapid.T) call { return drawRows(t, (*Tensor).Softmax, SoftmaxInto) }

func drawLogSoftmax(t *rapid.T) call { return drawRows(t, (*Tensor).LogSoftmax, LogSoftmaxInto) }

func drawRows(t *rapid.T, plain func(*Tensor, int) *Tensor, into func(dst, x *Tensor, dim int)) call {
	shape, _, dim := drawAlong(t, drawShape(t))
	dtype := drawFloat(t)
	return unaryCall(unaryForms{func(x *Tensor) *Tensor { return plain(x, dim) },
		func(dst, x *Tensor) { into(dst, x, dim) }}, dtype, dtype, shape)
}

func drawMatMul(t *rapid.T) call {
	shapes, out := drawBroadcast(t, 2)
	m, k, n := extents.Draw(t, "m"), extents.Draw(t, "k"), extents.Draw(t, "n")
	if len(shapes[0]) == 0 && rapid.Bool().Draw(t, "left vector") {
		shapes[0] = []int{k}
	} else {
		shapes[0], out = append(shapes[0], m, k), append(out, m)
	}
	if len(shapes[1]) == 0 && rapid.Bool().Draw(t, "right vector") {
		shapes[1] = []int{k}
	} else {
		shapes[1], out = append(shapes[1], k, n), append(out, n)
	}
	dtype := drawNumber(t)
	return binaryCall(binaryForms{(*Tensor).MatMul, MatMulInto}, dtype, dtype, shapes, out)
}

// drawIndexed draws a shape for an index that runs over one of shape: no larger
// but along axis.
func drawIndexed(t *rapid.T, shape []int, axis int) []int {
	index := append([]int{}, shape...)
	for i := range index {
		index[i] = rapid.IntRange(0, shape[i]).Draw(t, "extent")
	}
	index[axis] = rapid.IntRange(0, 6).Draw(t, "indices")
	return index
}

func drawGather(t *rapid.T) call {
	shape, axis, dim := drawAlong(t, drawShape(t))
	shape[axis] = max(shape[axis], 1)
	index := drawIndexed(t, shape, axis)
	dtype := drawComputing(t)
	return call{
		in:    []spec{{dtype: dtype, shape: shape}, {dtype: Int64, shape: index, limit: shape[axis]}},
		out:   spec{dtype: dtype, shape: index},
		plain: func(in []*Tensor) *Tensor { return in[0].Gather(dim, in[1]) },
		into:  func(dst *Tensor, in []*Tensor) { GatherInto(dst, in[0], dim, in[1]) },
	}
}

func drawScatterAdd(t *rapid.T) call {
	shape, axis, dim := drawAlong(t, drawShape(t))
	shape[axis] = max(shape[axis], 1)
	index := drawIndexed(t, shape, axis)
	src := append([]int{}, index...)
	for i := range src {
		src[i] += rapid.IntRange(0, 1).Draw(t, "beyond")
	}
	dtype := drawNumber(t)
	return call{
		in:    []spec{{dtype: dtype, shape: shape}, {dtype: Int64, shape: index, limit: shape[axis]}, {dtype: dtype, shape: src}},
		out:   spec{dtype: dtype, shape: shape},
		plain: func(in []*Tensor) *Tensor { return in[0].ScatterAdd(dim, in[1], in[2]) },
		into:  func(dst *Tensor, in []*Tensor) { ScatterAddInto(dst, in[0], dim, in[1], in[2]) },
	}
}

func drawIndexSelect(t *rapid.T) call {
	shape, axis, dim := drawAlong(t, drawShape(t))
	shape[axis] = max(shape[axis], 1)
	n := rapid.IntRange(0, 6).Draw(t, "indices")
	out := append([]int{}, shape...)
	out[axis] = n
	dtype := drawComputing(t)
	return call{
		in:    []spec{{dtype: dtype, shape: shape}, {dtype: Int64, shape: []int{n}, limit: shape[axis]}},
		out:   spec{dtype: dtype, shape: out},
		plain: func(in []*Tensor) *Tensor { return in[0].IndexSelect(dim, in[1]) },
		into:  func(dst *Tensor, in []*Tensor) { IndexSelectInto(dst, in[0], dim, in[1]) },
	}
}

func drawIndexAdd(t *rapid.T) call {
	shape, axis, dim := drawAlong(t, drawShape(t))
	shape[axis] = max(shape[axis], 1)
	n := rapid.IntRange(0, 6).Draw(t, "indices")
	src := append([]int{}, shape...)
	src[axis] = n
	dtype := drawNumber(t)
	return call{
		in:    []spec{{dtype: dtype, shape: shape}, {dtype: Int64, shape: []int{n}, limit: shape[axis]}, {dtype: dtype, shape: src}},
		out:   spec{dtype: dtype, shape: shape},
		plain: func(in []*Tensor) *Tensor { return in[0].IndexAdd(dim, in[1], in[2]) },
		into:  func(dst *Tensor, in []*Tensor) { IndexAddInto(dst, in[0], dim, in[1], in[2]) },
	}
}

func drawEmbedding(t *rapid.T) call {
	index, rows, width := drawShape(t), rapid.IntRange(1, 5).Draw(t, "rows"), extents.Draw(t, "width")
	dtype := drawComputing(t)
	return call{
		in:    []spec{{dtype: dtype, shape: []int{rows, width}}, {dtype: Int64, shape: index, limit: rows}},
		out:   spec{dtype: dtype, shape: append(append([]int{}, index...), width)},
		plain: func(in []*Tensor) *Tensor { return Embedding(in[0], in[1]) },
		into:  func(dst *Tensor, in []*Tensor) { EmbeddingInto(dst, in[0], in[1]) },
	}
}

func drawCat(t *rapid.T) call {
	shape, axis, dim := drawAlong(t, drawShape(t))
	dtype := DType(rapid.IntRange(0, int(Uint8)).Draw(t, "dtype"))
	c := call{
		out:   spec{dtype: dtype, shape: append([]int{}, shape...)},
		plain: func(in []*Tensor) *Tensor { return Cat(dim, in...) },
		into:  func(dst *Tensor, in []*Tensor) { CatInto(dst, dim, in...) },
	}
	c.out.shape[axis] = 0
	for range rapid.IntRange(1, 4).Draw(t, "tensors") {
		part := append([]int{}, shape...)
		part[axis] = rapid.IntRange(0, 3).Draw(t, "part")
		c.out.shape[axis] += part[axis]
		c.in = append(c.in, spec{dtype: dtype, shape: part})
	}
	return c
}

func drawStack(t *rapid.T) call {
	shape := drawShape(t)
	axis, dim := drawDim(t, len(shape)+1)
	n := rapid.IntRange(1, 4).Draw(t, "tensors")
	dtype := DType(rapid.IntRange(0, int(Uint8)).Draw(t, "dtype"))
	c := call{
		out:   spec{dtype: dtype, shape: with(shape, axis, n)},
		plain: func(in []*Tensor) *Tensor { return Stack(dim, in...) },
		into:  func(dst *Tensor, in []*Tensor) { StackInto(dst, dim, in...) },
	}
	for range n {
		c.in = append(c.in, spec{dtype: dtype, shape: shape})
	}
	return c
}

func drawSwiGLU(t *rapid.T) call {
	shape, dtype := drawShape(t), drawFloat(t)
	return binaryCall(binaryForms{SwiGLU, SwiGLUInto}, dtype, dtype, [][]int{shape, shape}, shape)
}
