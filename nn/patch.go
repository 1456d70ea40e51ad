package nn

import (
	"fmt"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/tensor"
)

// Size is the height and width of an image, of a patch, or of a grid of
// patches.
type Size struct{ Height, Width int }

// Square returns the size of a square.
func Square(side int) Size { return Size{side, side} }

// Count returns how many cells a grid of the size has.
func (s Size) Count() int { return s.Height * s.Width }

// String returns height and width: 4x6.
func (s Size) String() string { return fmt.Sprintf("%dx%d", s.Height, s.Width) }

// Grid returns how many patches fit into an image of size s, down and across.
// An image that does not divide into patches is an error that names both
// numbers.
func (s Size) Grid(patch Size) (Size, error) {
	switch {
	case s.Height < 1 || s.Width < 1 || patch.Height < 1 || patch.Width < 1:
		return Size{}, fmt.Errorf("an image of %v in patches of %v: want at least 1 everywhere", s, patch)
	case s.Height%patch.Height != 0:
		return Size{}, fmt.Errorf("the image's height %d is no multiple of the patch's height %d", s.Height, patch.Height)
	case s.Width%patch.Width != 0:
		return Size{}, fmt.Errorf("the image's width %d is no multiple of the patch's width %d", s.Width, patch.Width)
	}
	return Size{s.Height / patch.Height, s.Width / patch.Width}, nil
}

// SplitPatches cuts images x (B, C, gh*ph, gw*pw) into patches of size ph x pw
// and returns them as rows (B, gh*gw, C*ph*pw): patches run along the image's
// rows, and in each the elements run channel by channel, row by row. Two views
// and one copy do it, which Reshape makes; where a permutation moves nothing,
// such as with patches of a single channel and the image's width, even that one
// is a view. Images that do not divide into patches panic with a
// *tensor.Error.
func SplitPatches(x *autograd.Var, patch Size) *autograd.Var {
	grid, c := patchGrid(x, patch), x.Size(1)
	b, gh, gw, ph, pw := x.Size(0), grid.Height, grid.Width, patch.Height, patch.Width
	cut := x.View(b, c, gh, ph, gw, pw)
	moved := cut.Permute(0, 2, 4, 1, 3, 5) // (B, gh, gw, C, ph, pw)
	return moved.Reshape(b, gh*gw, c*ph*pw)
}

// patchGrid returns the grid of patches that x (B, C, H, W) divides into.
func patchGrid(x *autograd.Var, patch Size) Size {
	if x.Dim() != 4 {
		panic(&tensor.Error{Op: "split patches", Kind: tensor.RankMismatch, Expected: 4, Actual: x.Dim(),
			Message: fmt.Sprintf("want images (B, C, H, W), not shape %v", x.Shape())})
	}
	grid, err := Size{x.Size(2), x.Size(3)}.Grid(patch)
	if err != nil {
		panic(&tensor.Error{Op: "split patches", Kind: tensor.ShapeMismatch,
			Message: fmt.Sprintf("images of shape %v: %v", x.Shape(), err)})
	}
	return grid
}

// PatchEmbed cuts images into patches and maps each to a vector (Dosovitskiy et
// al. 2021, arXiv:2010.11929). The weight has the shape that checkpoints store,
// a convolution's; a patch in a row holds its elements in the same order, so
// that what it takes is a matrix product.
type PatchEmbed struct {
	Weight *autograd.Param `name:"projection.weight"` // (D, C, ph, pw)
	Bias   *autograd.Param `name:"projection.bias"`   // (D), or nil

	Image Size // what Forward takes
	Patch Size
}

// PatchConfig describes a PatchEmbed.
type PatchConfig struct {
	Image, Patch Size // Image is a multiple of Patch, down and across
	Channels     int  // C
	Width        int  // D
	Bias         bool
	DType        tensor.DType // Float32 or Float64
}

// NewPatchEmbed returns a PatchEmbed of zeros. Extents below 1, and an image
// that does not divide into patches, are errors that name the numbers.
func NewPatchEmbed(config PatchConfig) (*PatchEmbed, error) {
	b := builder{layer: "patch embedding", dtype: config.DType}
	b.size("Channels", config.Channels)
	b.size("Width", config.Width)
	if _, err := config.Image.Grid(config.Patch); err != nil {
		b.failf("%w", err)
	}
	e := &PatchEmbed{
		Weight: b.zeros(config.Width, config.Channels, config.Patch.Height, config.Patch.Width),
		Image:  config.Image, Patch: config.Patch,
	}
	if config.Bias {
		e.Bias = b.zeros(config.Width)
	}
	if b.err != nil {
		return nil, b.err
	}
	return e, nil
}

// Grid returns how many patches an image has, down and across.
func (e *PatchEmbed) Grid() Size {
	return Size{e.Image.Height / e.Patch.Height, e.Image.Width / e.Patch.Width}
}

// Forward maps images x (B, C, H, W) to a vector for each patch, (B, gh*gw, D),
// row of patches by row. Images of other sizes than the layer's panic with a
// *tensor.Error.
func (e *PatchEmbed) Forward(c *Context, x *autograd.Var) *autograd.Var {
	e.check(x)
	weight := c.Param(e.Weight)
	matrix := weight.Reshape(weight.Size(0), weight.Len()/weight.Size(0)) // (D, C*ph*pw), a view of what NewPatchEmbed makes
	return autograd.Linear(SplitPatches(x, e.Patch), matrix, c.Param(e.Bias))
}

// check refuses what is not (B, C, H, W) of the layer's channels and size.
func (e *PatchEmbed) check(x *autograd.Var) {
	channels := e.Weight.Value.Size(1)
	if x.Dim() == 4 && x.Size(1) == channels && (Size{x.Size(2), x.Size(3)}) == e.Image {
		return
	}
	panic(&tensor.Error{Op: "patch embedding", Kind: tensor.ShapeMismatch, Expected: channels,
		Message: fmt.Sprintf("want images (B, %d, %d, %d), not shape %v", channels, e.Image.Height, e.Image.Width, x.Shape())})
}
