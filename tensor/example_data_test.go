package tensor_test

import (
	"fmt"

	"github.com/stria-ml/stria/tensor"
)

func ExampleMutate() {
	x := tensor.Zeros(tensor.Float32, 2, 2)
	tensor.Mutate(x.Select(0, 1), func(row []float32) {
		for j := range row {
			row[j] = float32(j + 1)
		}
	})
	fmt.Println(tensor.Data[float32](x), x.Version())
	// Output: [0 0 1 2] 1
}

// A write through one view, from another view of the same elements: the operand
// is read in full first.
func ExampleTensor_CopyFrom() {
	x := tensor.Arange(tensor.Float32, 0, 4, 1)
	x.Slice(0, 1, 4, 1).CopyFrom(x.Slice(0, 0, 3, 1))
	fmt.Println(tensor.Data[float32](x))
	// Output: [0 0 1 2]
}

func ExampleTensor_AddInPlace() {
	x := tensor.Zeros(tensor.Float32, 3)
	rows := x.Expand(2, 3) // two rows over the same three elements
	err := tensor.Catch(func() { rows.AddInPlace(tensor.Ones(tensor.Float32, 2, 3)) })
	fmt.Println(err)
	// Output: tensor: add in place: cannot write to shape [2, 3] with strides [0, 1] because several positions share one element; Clone it first
}

func ExampleOnCopy() {
	stop := tensor.OnCopy(func(e tensor.CopyEvent) {
		fmt.Println(e.Op, e.Shape, e.Strides, e.Bytes)
	})
	defer stop()
	x := tensor.Arange(tensor.Float32, 0, 6, 1).View(2, 3)
	x.Reshape(3, 2)    // a view
	x.T().Reshape(6)   // no strides read this order
	x.T().Clone()      // asked for
	x.T().Contiguous() // a copy if need be
	// Output:
	// reshape [3 2] [1 3] 24
	// contiguous [3 2] [1 3] 24
}

func ExampleForbidCopies() {
	stop := tensor.ForbidCopies()
	defer stop()
	x := tensor.Zeros(tensor.Float32, 2, 3)
	err := tensor.Catch(func() { x.T().Reshape(6) })
	fmt.Println(err.(*tensor.Error).Kind)
	// Output: copy forbidden
}

func ExampleStream() {
	s := tensor.NewStream(42)
	state := s.State()
	first := tensor.RandInt(s, 100, 5)
	s.SetState(state)
	again := tensor.RandInt(s, 100, 5)
	fmt.Println(tensor.Data[int64](first), tensor.Data[int64](again), s.State().Counter)
	// Output: [34 45 77 37 23] [34 45 77 37 23] 5
}
