package nn_test

import (
	"fmt"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

// An image of two channels, 4x6, in patches of 2x3: each row holds a patch, its
// first channel before its second.
func ExampleSplitPatches() {
	g := autograd.NewGraph()
	defer g.Close()
	image := tensor.Arange(tensor.Float32, 0, 48, 1).View(1, 2, 4, 6) // (B, C, H, W)
	patches := nn.SplitPatches(g.Const(image), nn.Size{Height: 2, Width: 3})
	fmt.Println(patches.Shape())
	for p := range 4 {
		fmt.Println(tensor.Data[float32](patches.Value().Select(1, p)))
	}
	// Output:
	// [1 4 12]
	// [0 1 2 6 7 8 24 25 26 30 31 32]
	// [3 4 5 9 10 11 27 28 29 33 34 35]
	// [12 13 14 18 19 20 36 37 38 42 43 44]
	// [15 16 17 21 22 23 39 40 41 45 46 47]
}

func ExampleNewPatchEmbed() {
	layer, err := nn.NewPatchEmbed(nn.PatchConfig{Image: nn.Size{Height: 32, Width: 48}, Patch: nn.Square(8), Channels: 3, Width: 64, Bias: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	nn.InitDefault(layer, tensor.NewStream(1))
	g := autograd.NewGraph()
	defer g.Close()
	images := g.Const(tensor.Zeros(tensor.Float32, 5, 3, 32, 48))
	fmt.Println(layer.Grid(), layer.Forward(&nn.Context{Graph: g}, images).Shape())

	_, err = nn.NewPatchEmbed(nn.PatchConfig{Image: nn.Square(28), Patch: nn.Square(8), Channels: 1, Width: 64})
	fmt.Println(err)
	// Output:
	// 4x6 [5 24 64]
	// nn: patch embedding: the image's height 28 is no multiple of the patch's height 8
}

// Learned positions of a grid of 1x2 patches, behind the class token's, for a
// grid of 1x4.
func ExampleInterpolatePositions() {
	positions := tensor.FromSlice([]float32{9, 0, 8}, 1, 3, 1) // (1, 1+P, D)
	wider, err := nn.InterpolatePositions(positions, nn.Size{Height: 1, Width: 2}, nn.Size{Height: 1, Width: 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(wider.Shape(), tensor.Data[float32](wider))
	// Output:
	// [1 5 1] [9 0 2 6 8]
}
