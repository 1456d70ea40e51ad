package tensor

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// PyTorch's notation, but for true and false, shape=[...] for size=(...), and
// dtypes without "torch.".
func TestPrint(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		name string
		x    *Tensor
		want string
	}{
		{"0-d", Scalar(float32(3.5)), "tensor(3.5000)"},
		{"0-d whole", Scalar(float32(-3)), "tensor(-3.)"},
		{"0-d int64", Scalar(int64(-7)), "tensor(-7)"},
		{"0-d bool", Scalar(true), "tensor(true)"},
		{"1-d", FromSlice([]float32{0, 1, 2}), "tensor([0., 1., 2.])"},
		{"fractions", FromSlice([]float32{-0.5, 10.25}), "tensor([-0.5000, 10.2500])"},
		{"matrix", counting(2, 3), "tensor([[0., 1., 2.],\n        [3., 4., 5.]])"},
		{"columns line up", FromSlice([]int64{1, -20, 300, 4}, 2, 2), "tensor([[  1, -20],\n        [300,   4]])"},
		{"matrices", counting(2, 1, 2), "tensor([[[0., 1.]],\n\n        [[2., 3.]]])"},
		{"four dims", counting(2, 2, 1, 1), "tensor([[[[0.]],\n\n         [[1.]]],\n\n\n        [[[2.]],\n\n         [[3.]]]])"},
		{"transposed", counting(2, 3).T(), "tensor([[0., 3.],\n        [1., 4.],\n        [2., 5.]])"},
		{"sliced with an offset", counting(10).Slice(0, 1, 8, 3), "tensor([1., 4., 7.])"},
		{"expanded", FromSlice([]float32{1, 2}).Expand(2, 2), "tensor([[1., 2.],\n        [1., 2.]])"},
		{"empty", Empty(Float32, 0), "tensor([])"},
		{"empty with a shape", Empty(Float32, 2, 0, 3), "tensor([], shape=[2, 0, 3])"},
		{"empty of another dtype", Empty(Int64, 0), "tensor([], dtype=int64)"},
		{"special values", FromSlice([]float32{float32(nan), float32(inf), float32(-inf), 1}), "tensor([ nan,  inf, -inf,   1.])"},
		{"special values only", FromSlice([]float64{nan, inf}), "tensor([nan, inf], dtype=float64)"},
		{"negative zero", FromSlice([]float32{float32(math.Copysign(0, -1)), 0.5}), "tensor([-0.0000,  0.5000])"},
		{"large", FromSlice([]float32{1e8, 2}), "tensor([1.0000e+08, 2.0000e+00])"},
		{"small", FromSlice([]float32{1e-5, 0}), "tensor([1.0000e-05, 0.0000e+00])"},
		{"far apart", FromSlice([]float32{0.001, 1.5}), "tensor([1.0000e-03, 1.5000e+00])"},
		{"whole and far apart", FromSlice([]float32{1, 2000}), "tensor([   1., 2000.])"},
		{"float64", FromSlice([]float64{0.125}), "tensor([0.1250], dtype=float64)"},
		{"bool", FromSlice([]bool{true, false}), "tensor([ true, false])"},
		{"int32", FromSlice([]int32{math.MinInt32}), "tensor([-2147483648], dtype=int32)"},
		{"int64 beyond 2^53", FromSlice([]int64{1<<53 + 1}), "tensor([9007199254740993])"},
		{"uint8", FromSlice([]uint8{0, 255}), "tensor([  0, 255], dtype=uint8)"},
		{"float16", FromSlice([]Half{0x3C00, 0x3800, 0xFC00, 0x0001}), "tensor([1.0000e+00, 5.0000e-01,       -inf, 5.9605e-08], dtype=float16)"},
		{"bfloat16", FromSlice([]BHalf{0x3FC0, 0x7FC0}), "tensor([1.5000,    nan], dtype=bfloat16)"},
		{"rows of several lines", counting(30), "tensor([ 0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.,  8.,  9., 10., 11., 12., 13.,\n" +
			"        14., 15., 16., 17., 18., 19., 20., 21., 22., 23., 24., 25., 26., 27.,\n" +
			"        28., 29.])"},
		{"cut vector", counting(1001), "tensor([   0.,    1.,    2.,  ...,  998.,  999., 1000.], shape=[1001])"},
		{"cut matrix", counting(1000, 7), "tensor([[   0.,    1.,    2.,  ...,    4.,    5.,    6.],\n" +
			"        [   7.,    8.,    9.,  ...,   11.,   12.,   13.],\n" +
			"        [  14.,   15.,   16.,  ...,   18.,   19.,   20.],\n" +
			"        ...,\n" +
			"        [6979., 6980., 6981.,  ..., 6983., 6984., 6985.],\n" +
			"        [6986., 6987., 6988.,  ..., 6990., 6991., 6992.],\n" +
			"        [6993., 6994., 6995.,  ..., 6997., 6998., 6999.]], shape=[1000, 7])"},
		{"only long dims are cut", counting(2, 501), "tensor([[   0.,    1.,    2.,  ...,  498.,  499.,  500.],\n" +
			"        [ 501.,  502.,  503.,  ...,  999., 1000., 1001.]], shape=[2, 501])"},
		{"cut of a stride 0", Scalar(int64(4)).Expand(1 << 30), "tensor([4, 4, 4,  ..., 4, 4, 4], shape=[1073741824])"},
	} {
		if got := c.x.String(); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

func TestFormat(t *testing.T) {
	x := FromSlice([]float32{1, 2.5, 100}, 1, 3)
	for _, c := range []struct{ got, want string }{
		{fmt.Sprint(x), "tensor([[  1.0000,   2.5000, 100.0000]])"},
		{fmt.Sprintf("%s", x), x.String()},
		{fmt.Sprintf("%.1f", x), "tensor([[  1.0,   2.5, 100.0]])"},
		{fmt.Sprintf("%.2v", x), "tensor([[  1.00,   2.50, 100.00]])"},
		{fmt.Sprintf("%f", x), "tensor([[  1.0000,   2.5000, 100.0000]])"},
		{fmt.Sprintf("%.2e", x), "tensor([[1.00e+00, 2.50e+00, 1.00e+02]])"},
		{fmt.Sprintf("%g", x), "tensor([[  1, 2.5, 100]])"},
		{fmt.Sprintf("%7.1f", x), "tensor([[    1.0,     2.5,   100.0]])"},
		{fmt.Sprintf("%d", FromSlice([]int64{4, 12})), "tensor([ 4, 12])"},
		{fmt.Sprintf("%d", x), "%!d(*tensor.Tensor of float32)"},
		{fmt.Sprintf("%x", x), "%!x(*tensor.Tensor of float32)"},
		{fmt.Sprintf("%+v", x.T()), "tensor([[  1.0000],\n        [  2.5000],\n        [100.0000]], shape=[3, 1], dtype=float32, strides=[1, 3], offset=0, version=0)"},
		{fmt.Sprint((*Tensor)(nil)), "<nil>"},
	} {
		if c.got != c.want {
			t.Errorf("%s, want %s", c.got, c.want)
		}
	}
}

func TestFormatAll(t *testing.T) {
	x := counting(1200)
	if text := fmt.Sprintf("%#v", x); strings.Contains(text, "...") || strings.Count(text, ".") != 1200 {
		t.Errorf("%%#v shows %d of 1200 elements", strings.Count(text, "."))
	}
	if text := fmt.Sprintf("%v", counting(1000)); strings.Contains(text, "...") || strings.Count(text, ".") != 1000 {
		t.Errorf("1000 elements are cut")
	}
}

// Long dims of a tensor of many dims show fewer indices, so that the whole stays
// short.
func TestPrintManyDims(t *testing.T) {
	text := counting(7, 7, 7, 7, 7).String()
	if n := strings.Count(text, "\n"); n > 200 || !strings.Contains(text, "...") {
		t.Errorf("7^5 elements take %d lines", n)
	}
	if !strings.Contains(text, "16806.") || !strings.Contains(text, "shape=[7, 7, 7, 7, 7]") {
		t.Errorf("the last element or the shape is missing in\n%s", text)
	}
}

// A tensor whose memory went back to its arena says so.
func TestPrintClosed(t *testing.T) {
	a := NewArena(CPU)
	x := a.Empty(Float32, 2)
	a.Expose(x)
	a.Release(x)
	wantKind(t, Closed, func() { _ = x.String() })
	if text := fmt.Sprint(x); !strings.Contains(text, "given back to its graph") {
		t.Errorf("fmt prints %s", text)
	}
}
