package tensor_test

import (
	"fmt"
	"math"

	"github.com/stria-ml/stria/tensor"
)

// Shapes broadcast, and the repeated operand is not copied.
func ExampleTensor_Add() {
	x := tensor.Arange(tensor.Float32, 0, 6, 1).View(2, 3)
	row := tensor.FromSlice([]float32{10, 20, 30})
	fmt.Println(tensor.Data[float32](x.Add(row)))
	// Output: [10 21 32 13 24 35]
}

// A destination that exists saves the allocation, here of every step of a loop.
func ExampleAddInto() {
	sum, x := tensor.Zeros(tensor.Float32, 3), tensor.FromSlice([]float32{1, 2, 3})
	for range 4 {
		tensor.AddInto(sum, sum, x)
	}
	fmt.Println(tensor.Data[float32](sum))
	// Output: [4 8 12]
}

// Reductions drop their dims or keep them with extent 1, which broadcasts back.
func ExampleTensor_SumKeepDim() {
	x := tensor.FromSlice([]float64{1, 3, 2, 2, 0, 8}, 3, 2)
	fmt.Println(x.Sum(1).Shape(), x.SumKeepDim(1).Shape(), tensor.Item[float64](x.Sum()))
	fmt.Println(tensor.Data[float64](x.Div(x.SumKeepDim(1))))
	// Output:
	// [3] [3 1] 16
	// [0.25 0.75 0.5 0.5 0 1]
}

// Leading dims broadcast too: three query heads read one key head.
func ExampleTensor_MatMul() {
	query := tensor.Ones(tensor.Float32, 2, 3, 5, 8)
	key := tensor.Ones(tensor.Float32, 2, 1, 7, 8)
	fmt.Println(query.MatMul(key.MT()).Shape())
	// Output: [2 3 5 7]
}

// A causal mask hides what comes later.
func ExampleTensor_MaskedFill() {
	future := tensor.Ones(tensor.Bool, 2, 2).Triu(1)
	scores := tensor.Zeros(tensor.Float64, 2, 2).MaskedFill(future, math.Inf(-1))
	fmt.Println(tensor.Data[float64](scores.Softmax(-1)))
	// Output: [1 0 0.5 0.5]
}

func ExampleTensor_Gather() {
	logits := tensor.FromSlice([]float64{0.1, 0.9, 0.7, 0.3}, 2, 2)
	fmt.Println(tensor.Data[float64](logits.Gather(1, logits.ArgMaxKeepDim(1))))
	// Output: [0.9 0.7]
}

func ExampleCat() {
	a, b := tensor.Zeros(tensor.Float32, 2, 1), tensor.Ones(tensor.Float32, 2, 2)
	fmt.Println(tensor.Data[float32](tensor.Cat(1, a, b)))
	// Output: [0 1 1 0 1 1]
}

// Misuse panics with an Error that names shapes and what would work.
func ExampleCatch() {
	err := tensor.Catch(func() {
		tensor.Ones(tensor.Float32, 2, 3).MatMul(tensor.Ones(tensor.Float32, 2, 3))
	})
	fmt.Println(err)
	// Output: tensor: matmul: shapes [2, 3] (strides [3, 1]) and [2, 3] (strides [3, 1]) do not multiply: 3 columns on the left, 2 rows on the right; Transpose one of them
}
