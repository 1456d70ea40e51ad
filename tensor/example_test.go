package tensor_test

import (
	"errors"
	"fmt"

	"github.com/stria-ml/stria/tensor"
)

// Three views of one storage. A write through the first is seen through all.
func Example() {
	a := tensor.Arange(tensor.Float32, 0, 6, 1).View(2, 3)
	columns := a.T()
	last := a.Select(1, -1)
	a.Select(0, 0).Fill(7)
	fmt.Println(columns)
	fmt.Println(last, "stride", last.Stride(0), "offset", last.Offset())
	// Output:
	// tensor([[7., 3.],
	//         [7., 4.],
	//         [7., 5.]])
	// tensor([7., 5.]) stride 3 offset 2
}

// A view can split any dim, and merge those that step evenly. The error names
// the two that do not.
func ExampleTensor_View() {
	y := tensor.Arange(tensor.Float32, 0, 40, 1).View(4, 2, 5).Permute(1, 0, 2)
	fmt.Println(y.View(2, 2, 2, 5).Strides())
	fmt.Println(tensor.Catch(func() { y.View(8, 5) }))
	// Output:
	// [5 20 10 1]
	// tensor: view: shape [2, 4, 5] with strides [5, 10, 1] has no view of shape [8, 5]: it would merge dims 0 and 1, but stride[0] != stride[1]*shape[1]: 5 != 10*4; a view can split [2, 4, 5] further, and Reshape copies
}

// Reshape shares storage where a view can, and copies where none can.
func ExampleTensor_Reshape() {
	a := tensor.Arange(tensor.Int64, 0, 6, 1).View(2, 3)
	for _, r := range []*tensor.Tensor{a.Reshape(6), a.T().Reshape(6)} {
		fmt.Println(r, r.SharesStorage(a))
	}
	// Output:
	// tensor([0, 1, 2, 3, 4, 5]) true
	// tensor([0, 3, 1, 4, 2, 5]) false
}

// Permute moves no element: it only reorders shape and strides.
func ExampleTensor_Permute() {
	x := tensor.Arange(tensor.Float32, 0, 24, 1).View(2, 3, 4)
	y := x.Permute(1, 2, 0)
	fmt.Println(y.Shape(), y.Strides(), y.IsContiguous())
	// Output:
	// [3 4 2] [4 1 12] false
}

// The grown dim has stride 0: both rows are the same three elements.
func ExampleTensor_Expand() {
	row := tensor.FromSlice([]float32{1, 2, 3}).Expand(2, 3)
	fmt.Println(row)
	fmt.Println(row.Strides(), row.HasInternalOverlap())
	// Output:
	// tensor([[1., 2., 3.],
	//         [1., 2., 3.]])
	// [0 1] true
}

// Slice clamps its bounds as Python does; Narrow refuses what does not fit.
func ExampleTensor_Slice() {
	r := tensor.Arange(tensor.Int64, 0, 10, 1)
	fmt.Println(r.Slice(0, 1, 8, 3))
	fmt.Println(r.Slice(0, -3, tensor.End, 1))
	fmt.Println(tensor.Catch(func() { r.Narrow(0, 8, 5) }))
	// Output:
	// tensor([1, 4, 7])
	// tensor([7, 8, 9])
	// tensor: narrow: length 5 from start 8 does not fit dim 0 of extent 10 in shape [10]; Slice clamps
}

// A fused projection falls into three parts without a copy.
func ExampleTensor_Chunk() {
	qkv := tensor.Zeros(tensor.Float32, 2, 4, 18)
	for _, part := range qkv.Chunk(3, -1) {
		fmt.Println(part.Shape(), part.Offset())
	}
	// Output:
	// [2 4 6] 0
	// [2 4 6] 6
	// [2 4 6] 12
}

// A borrowed view reads until the owner is written to.
func ExampleTensor_Borrow() {
	owner := tensor.FromSlice([]float32{10, 11, 12, 20, 21, 22}, 2, 3)
	view, _ := owner.Borrow().Transpose(0, 1)
	fmt.Println(view.Get(2, 1))
	owner.Fill(0)
	_, err := view.Get(2, 1)
	fmt.Println(errors.Is(err, &tensor.Error{Kind: tensor.Stale}))
	fmt.Println(err)
	// Output:
	// 22 <nil>
	// true
	// tensor: get: the owner of this view of shape [3, 2] was written to after Borrow: version 0 then, 1 now; Borrow again, or Materialize before the write
}

// Verbs, precision and flags choose what is printed.
func ExampleTensor_Format() {
	x := tensor.FromSlice([]float64{1, 2.5, 1000}, 3)
	fmt.Printf("%v\n", x)
	fmt.Printf("%.1f\n", x)
	fmt.Printf("%+.0f\n", x.Slice(0, 0, 3, 2))
	fmt.Println(tensor.Arange(tensor.Float32, 0, 1024, 1).View(512, 2))
	// Output:
	// tensor([   1.0000,    2.5000, 1000.0000], dtype=float64)
	// tensor([   1.0,    2.5, 1000.0], dtype=float64)
	// tensor([   1, 1000], shape=[2], dtype=float64, strides=[2], offset=0, version=0)
	// tensor([[   0.,    1.],
	//         [   2.,    3.],
	//         [   4.,    5.],
	//         ...,
	//         [1018., 1019.],
	//         [1020., 1021.],
	//         [1022., 1023.]], shape=[512, 2])
}
