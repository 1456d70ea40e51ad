// Command patches cuts an image into patches for a vision transformer, and
// shows where each of its elements goes: two views, which move nothing, and one
// copy.
//
// C channels, H rows, W columns; patches of ph rows and pw columns, gh of them
// down and gw across.
package main

import (
	"fmt"
	"slices"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

const (
	C, H, W = 2, 4, 6
	ph, pw  = 2, 3
	gh, gw  = H / ph, W / pw
)

func main() {
	// Each element of the image is its own place in memory.
	image := tensor.Arange(tensor.Int64, 0, C*H*W, 1).View(C, H, W)
	patches := steps(image)
	fmt.Println()
	follow(image, 1, 2, 4)
	fmt.Println()
	destinations(patches)
	fmt.Println()
	rows("patches, a row each:", patches)
	fmt.Println()
	rows("without the permutation, rows of the right shape, but bands of the image:", image.View(gh*gw, C*ph*pw))
	fmt.Println()
	layer()
}

// steps prints how the image becomes patches (gh*gw, C*ph*pw), and back.
func steps(image *tensor.Tensor) *tensor.Tensor {
	stop := tensor.OnCopy(func(e tensor.CopyEvent) { fmt.Printf("    implicit copy in %s: %d bytes\n", e.Op, e.Bytes) })
	defer stop()
	fmt.Printf("%-22s %-14s %-16s %s\n", "step", "shape", "strides", "how")
	show("image", image, image)
	cut := show("cut rows and columns", image.View(C, gh, ph, gw, pw), image)
	moved := show("grid first", cut.Permute(1, 3, 0, 2, 4), cut) // (gh, gw, C, ph, pw)
	patches := show("a row for each patch", moved.Reshape(gh*gw, C*ph*pw), moved)

	back := show("back: rows split", patches.View(gh, gw, C, ph, pw), patches)
	back = show("back: channels first", back.Permute(2, 0, 3, 1, 4), back)
	again := show("the image again", back.Reshape(C, H, W), back)
	fmt.Println("the same elements:", slices.Equal(tensor.Data[int64](again), tensor.Data[int64](image)))
	return patches
}

// show prints a step's result. from is what it was made of.
func show(step string, t, from *tensor.Tensor) *tensor.Tensor {
	kind := "copied"
	if t.SharesStorage(from) {
		kind = "view"
	}
	fmt.Printf("%-22s %-14s %-16s %s\n", step, fmt.Sprint(t.Shape()), fmt.Sprint(t.Strides()), kind)
	return t
}

// follow prints where the element of channel c, row y and column x is after each
// step.
func follow(image *tensor.Tensor, c, y, x int) {
	i, row, j, column := y/ph, y%ph, x/pw, x%pw // patch, and place in it
	fmt.Printf("row %d is row %d of patches %d down, column %d is column %d of patches %d across\n", y, row, i, x, column, j)
	cut := image.View(C, gh, ph, gw, pw)
	moved := cut.Permute(1, 3, 0, 2, 4)
	where("image", image, c, y, x)
	where("cut", cut, c, i, row, j, column)
	where("moved", moved, i, j, c, row, column)
	where("patches", moved.Reshape(gh*gw, C*ph*pw), i*gw+j, (c*ph+row)*pw+column)
}

// where prints an element's index, its place in memory by the strides, and its
// value.
func where(name string, t *tensor.Tensor, index ...int) {
	place := 0
	for axis, at := range index {
		place += at * t.Strides()[axis]
	}
	fmt.Printf("%-8s at %-12s place %2d holds %d\n", name, fmt.Sprint(index), place, tensor.At[int64](t, index...))
}

// destinations prints the image twice: each element's place in memory, and
// which patch it is in, at which place of its row.
func destinations(patches *tensor.Tensor) {
	var patch, place [C * H * W]int
	for p := range gh * gw {
		for k, element := range tensor.Data[int64](patches.Select(0, p)) {
			patch[element], place[element] = p, k
		}
	}
	fmt.Println("place in the image's memory -> patch:place in its row")
	for y := range C * H {
		if y == H {
			fmt.Println()
		}
		for x := range W {
			fmt.Printf("%3d", y*W+x)
		}
		fmt.Print("   ->  ")
		for x := range W {
			fmt.Printf("%5s", fmt.Sprintf("%d:%d", patch[y*W+x], place[y*W+x]))
		}
		fmt.Println()
	}
}

// rows prints a matrix.
func rows(title string, t *tensor.Tensor) {
	fmt.Println(title)
	for p := range t.Size(0) {
		fmt.Println(tensor.Data[int64](t.Select(0, p)))
	}
}

// layer does the same for a batch of images, and multiplies by a matrix: the
// weight has a convolution's shape, and is read as a matrix by a view.
func layer() {
	embed, err := nn.NewPatchEmbed(nn.PatchConfig{
		Image: nn.Size{Height: H, Width: W}, Patch: nn.Size{Height: ph, Width: pw}, Channels: C, Width: 8, Bias: true,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	nn.InitDefault(embed, tensor.NewStream(1))
	copies := 0
	stop := tensor.OnCopy(func(tensor.CopyEvent) { copies++ })
	defer stop()
	g := autograd.NewGraph(autograd.Inference())
	defer g.Close()
	images := g.Const(tensor.RandN(tensor.Float32, tensor.NewStream(2), 5, C, H, W))
	vectors := embed.Forward(&nn.Context{Graph: g}, images)
	fmt.Println("weight", embed.Weight.Value.Shape(), "images", images.Shape(), "vectors", vectors.Shape(), "copies", copies)
}
