package tensor

import (
	"testing"

	"pgregory.net/rapid"
)

// naiveMatMul is torch.matmul by definition, in float64, for operands of at
// least two dims.
func naiveMatMul(a, b *Tensor, out []int) []float64 {
	n := len(out)
	values := make([]float64, naiveSize(out))
	k := a.Size(-1)
	for i := range values {
		at := unrank(out, i)
		for j := range k {
			values[i] += matrixElement(a, at[:n-2], at[n-2], j) * matrixElement(b, at[:n-2], j, at[n-1])
		}
	}
	return values
}

// matrixElement returns element [batch..., i, j] of t, whose leading dims broadcast.
func matrixElement(t *Tensor, batch []int, i, j int) float64 {
	lead := len(t.shape()) - 2
	index := append([]int{}, batch[len(batch)-lead:]...)
	for axis := range index {
		if t.shape()[axis] == 1 {
			index[axis] = 0
		}
	}
	return At[float64](t, append(index, i, j)...)
}

// drawProduct draws operands of at least two dims on random layouts.
func drawProduct(t *rapid.T) (a, b *Tensor, out []int) {
	shapes, out := drawBroadcast(t, 2)
	m, k, n := extents.Draw(t, "m"), extents.Draw(t, "k"), extents.Draw(t, "n")
	draw := func(shape []int) *Tensor {
		p := drawPlace(t, shape, true)
		return p.view(drawBuffer(t, spec{dtype: Float64, shape: shape}, p.end))
	}
	return draw(append(shapes[0], m, k)), draw(append(shapes[1], k, n)), append(out, m, n)
}

func TestMatMulAgainstDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, out := drawProduct(t)
		wantClose(t, a.MatMul(b), FromSlice(naiveMatMul(a, b, out), out...))
	})
}

// TestMatMulAccumulateSums adds products to destinations that lack leading dims
// or have extent 1 there.
func TestMatMulAccumulateSums(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, out := drawProduct(t)
		shape := append([]int{}, out[rapid.IntRange(0, len(out)-2).Draw(t, "lead"):]...)
		for axis := range len(shape) - 2 {
			if rapid.Bool().Draw(t, "sum") {
				shape[axis] = 1
			}
		}
		p := drawPlace(t, shape, false)
		dst := p.view(drawBuffer(t, spec{dtype: Float64, shape: shape}, p.end))
		want := dst.Clone()
		sums := Zeros(Float64, shape...)
		SumToInto(sums, FromSlice(naiveMatMul(a, b, out), out...))
		want.AddInPlace(sums.MulScalar(0.5))
		version := dst.Version()
		MatMulAccumulateInto(dst, a, b, 0.5)
		wantClose(t, dst, want)
		if dst.Version() != version+1 {
			t.Fatalf("the version went from %d to %d", version, dst.Version())
		}
	})
}

// TestMatMulAccumulateReadsFirst has the destination among the operands.
func TestMatMulAccumulateReadsFirst(t *testing.T) {
	x := FromSlice([]float64{1, 2, 3, 4}, 2, 2)
	MatMulAccumulateInto(x, x, x.T(), 1)
	wantClose(t, x, FromSlice([]float64{1 + 5, 2 + 11, 3 + 11, 4 + 25}, 2, 2))
}

// TestMatMulFolds counts the products that a device is asked for: one where
// batch dims fold into rows or into the inner dim.
func TestMatMulFolds(t *testing.T) {
	device := &countingDevice{Device: cpuDevice}
	on := func(shape ...int) *Tensor { return ZerosOn(Device{device}, Float32, shape...) }
	tests := []struct {
		name     string
		run      func()
		products int
		m, k, n  int // of the last product
	}{
		{"linear", func() { on(2, 3, 5).MatMul(on(7, 5).T()) }, 1, 6, 5, 7},
		{"GQA scores", func() { on(2, 4, 3, 5, 8).MatMul(on(2, 4, 1, 6, 8).MT()) }, 1, 15, 8, 6},
		{"GQA decoding", func() { on(2, 1, 4, 3, 8).Permute(0, 2, 3, 1, 4).MatMul(on(2, 4, 1, 6, 8).MT()) }, 1, 3, 8, 6},
		{"linear weight's gradient", func() {
			x, dy := on(2, 3, 5), on(2, 3, 7)
			MatMulAccumulateInto(on(5, 7), x.MT(), dy, 1)
		}, 1, 5, 6, 7},
		{"GQA key's gradient", func() {
			ds, q := on(2, 4, 3, 5, 6), on(2, 4, 3, 5, 8)
			MatMulAccumulateInto(on(2, 4, 1, 6, 8), ds.MT(), q, 1)
		}, 1, 6, 15, 8},
		{"rows with gaps", func() { on(2, 4, 5).Slice(1, 0, 3, 1).MatMul(on(5, 7)) }, 1, 3, 5, 7},
		{"inner dims with gaps", func() {
			MatMulAccumulateInto(on(5, 7), on(2, 4, 5).Slice(1, 0, 3, 1).MT(), on(2, 3, 7), 1)
		}, 2, 5, 3, 7},
	}
	for _, test := range tests {
		device.products = 0
		test.run()
		if device.products != test.products || device.m != test.m || device.k != test.k || device.n != test.n {
			t.Errorf("%s: %d products, the last (%d, %d) x (%d, %d); want %d, (%d, %d) x (%d, %d)", test.name, device.products,
				device.m, device.k, device.k, device.n, test.products, test.m, test.k, test.k, test.n)
		}
	}
}
