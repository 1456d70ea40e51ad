package nn_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/autograd/gradcheck"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

// count returns images of that shape whose elements are 0, 1, 2, ...
func count(shape ...int) *tensor.Tensor {
	n := 1
	for _, extent := range shape {
		n *= extent
	}
	return tensor.Arange(tensor.Float32, 0, float64(n), 1).View(shape...)
}

// patchOrders are images whose elements are 0, 1, 2, ..., and their patches.
var patchOrders = []struct {
	name  string
	shape []int // (B, C, H, W)
	patch nn.Size
	want  [][]float32 // a row for each patch of each image
}{
	{"4x4 in 2x2", []int{1, 1, 4, 4}, nn.Square(2), [][]float32{
		{0, 1, 4, 5}, {2, 3, 6, 7},
		{8, 9, 12, 13}, {10, 11, 14, 15},
	}},
	{"two channels", []int{1, 2, 4, 4}, nn.Square(2), [][]float32{
		{0, 1, 4, 5, 16, 17, 20, 21}, {2, 3, 6, 7, 18, 19, 22, 23},
		{8, 9, 12, 13, 24, 25, 28, 29}, {10, 11, 14, 15, 26, 27, 30, 31},
	}},
	{"4x6 in 2x2", []int{1, 1, 4, 6}, nn.Square(2), [][]float32{
		{0, 1, 6, 7}, {2, 3, 8, 9}, {4, 5, 10, 11},
		{12, 13, 18, 19}, {14, 15, 20, 21}, {16, 17, 22, 23},
	}},
	{"4x6 in 2x3", []int{1, 1, 4, 6}, nn.Size{Height: 2, Width: 3}, [][]float32{
		{0, 1, 2, 6, 7, 8}, {3, 4, 5, 9, 10, 11},
		{12, 13, 14, 18, 19, 20}, {15, 16, 17, 21, 22, 23},
	}},
	{"6x2 in 3x1, two channels", []int{1, 2, 6, 2}, nn.Size{Height: 3, Width: 1}, [][]float32{
		{0, 2, 4, 12, 14, 16}, {1, 3, 5, 13, 15, 17},
		{6, 8, 10, 18, 20, 22}, {7, 9, 11, 19, 21, 23},
	}},
	{"two images", []int{2, 1, 2, 4}, nn.Square(2), [][]float32{
		{0, 1, 4, 5}, {2, 3, 6, 7},
		{8, 9, 12, 13}, {10, 11, 14, 15},
	}},
	{"one patch", []int{1, 2, 2, 2}, nn.Square(2), [][]float32{{0, 1, 2, 3, 4, 5, 6, 7}}},
	{"patches of one pixel", []int{1, 3, 1, 2}, nn.Square(1), [][]float32{{0, 2, 4}, {1, 3, 5}}},
	// the layout article's image: 3x3 patches of a 3x6x6 image
	{"article", []int{1, 3, 6, 6}, nn.Square(3), [][]float32{
		{0, 1, 2, 6, 7, 8, 12, 13, 14, 36, 37, 38, 42, 43, 44, 48, 49, 50, 72, 73, 74, 78, 79, 80, 84, 85, 86},
		{3, 4, 5, 9, 10, 11, 15, 16, 17, 39, 40, 41, 45, 46, 47, 51, 52, 53, 75, 76, 77, 81, 82, 83, 87, 88, 89},
		{18, 19, 20, 24, 25, 26, 30, 31, 32, 54, 55, 56, 60, 61, 62, 66, 67, 68, 90, 91, 92, 96, 97, 98, 102, 103, 104},
		{21, 22, 23, 27, 28, 29, 33, 34, 35, 57, 58, 59, 63, 64, 65, 69, 70, 71, 93, 94, 95, 99, 100, 101, 105, 106, 107},
	}},
}

// TestPatchOrder reads every element of every patch, of images that lie in
// memory in order, with their channels last, and inside of larger ones.
func TestPatchOrder(t *testing.T) {
	for _, row := range patchOrders {
		images := count(row.shape...)
		framed := tensor.Full(tensor.Float32, -1, row.shape[0], row.shape[1], row.shape[2]+2, row.shape[3]+3)
		inside := framed.Narrow(2, 1, row.shape[2]).Narrow(3, 2, row.shape[3])
		inside.CopyFrom(images)
		for layout, x := range map[string]*tensor.Tensor{
			"in order": images, "channels last": images.Permute(0, 2, 3, 1).Clone().Permute(0, 3, 1, 2), "framed": inside,
		} {
			g := autograd.NewGraph()
			got := nn.SplitPatches(g.Const(x), row.patch).Value()
			want := slices.Concat(row.want...)
			shape := []int{row.shape[0], len(row.want) / row.shape[0], len(row.want[0])}
			if !slices.Equal(got.Shape(), shape) || !slices.Equal(tensor.Data[float32](got), want) {
				t.Errorf("%s, %s: %v, want %v of shape %v", row.name, layout, got, row.want, shape)
			}
			g.Close()
		}
	}
}

// TestPatchCopies: patching is one copy, of the permuted view, and none where
// the permutation moves nothing. The whole layer makes no other.
func TestPatchCopies(t *testing.T) {
	var copies []tensor.CopyEvent
	stop := tensor.OnCopy(func(e tensor.CopyEvent) { copies = append(copies, e) })
	defer stop()
	for _, row := range []struct {
		channels     int
		image, patch nn.Size
		copies       int
	}{
		{3, nn.Square(4), nn.Square(2), 1},
		{3, nn.Size{Height: 4, Width: 6}, nn.Size{Height: 2, Width: 3}, 1},
		{1, nn.Size{Height: 6, Width: 4}, nn.Size{Height: 2, Width: 4}, 0}, // bands of rows
		{3, nn.Square(4), nn.Square(4), 0},                                 // the image
	} {
		layer := must(nn.NewPatchEmbed(nn.PatchConfig{Image: row.image, Patch: row.patch, Channels: row.channels, Width: 5, Bias: true}))
		nn.InitDefault(layer, tensor.NewStream(1))
		g := autograd.NewGraph()
		copies = nil
		layer.Forward(&nn.Context{Graph: g, Train: true}, g.Const(count(2, row.channels, row.image.Height, row.image.Width)))
		if len(copies) != row.copies {
			t.Errorf("%d channels of %v in patches of %v: copies %v, want %d", row.channels, row.image, row.patch, copies, row.copies)
		}
		for _, e := range copies {
			grid := layer.Grid()
			shape := []int{2, grid.Height, grid.Width, row.channels, row.patch.Height, row.patch.Width}
			if e.Op != "reshape" || !slices.Equal(e.Shape, shape) || e.Bytes != 2*row.channels*row.image.Count()*4 {
				t.Errorf("copy %v, want one of shape %v by reshape", e, shape)
			}
		}
		g.Close()
	}
}

// convolve is the layer as loops: a convolution whose stride is the patch.
func convolve(e *nn.PatchEmbed, x *tensor.Tensor) []float64 {
	w, bias := tensor.Data[float64](e.Weight.Value), make([]float64, e.Weight.Value.Size(0))
	if e.Bias != nil {
		bias = tensor.Data[float64](e.Bias.Value)
	}
	channels, ph, pw := x.Size(1), e.Patch.Height, e.Patch.Width
	var out []float64
	for b := range x.Size(0) {
		for y := 0; y < x.Size(2); y += ph {
			for z := 0; z < x.Size(3); z += pw {
				for d := range bias {
					sum := bias[d]
					for c := range channels {
						for i := range ph {
							for j := range pw {
								sum += w[((d*channels+c)*ph+i)*pw+j] * tensor.At[float64](x, b, c, y+i, z+j)
							}
						}
					}
					out = append(out, sum)
				}
			}
		}
	}
	return out
}

var patchConfigs = []nn.PatchConfig{
	{Image: nn.Size{Height: 4, Width: 6}, Patch: nn.Size{Height: 2, Width: 3}, Channels: 2, Width: 5, Bias: true},
	{Image: nn.Size{Height: 6, Width: 5}, Patch: nn.Size{Height: 3, Width: 1}, Channels: 3, Width: 1, Bias: true},
	{Image: nn.Square(3), Patch: nn.Square(3), Channels: 1, Width: 4},
	{Image: nn.Square(2), Patch: nn.Square(1), Channels: 1, Width: 2, Bias: true},
}

func TestPatchEmbedAgainstConvolution(t *testing.T) {
	for _, config := range patchConfigs {
		config.DType = tensor.Float64
		e := must(nn.NewPatchEmbed(config))
		randomize(e, 1)
		for _, batch := range []int{2, 1, 0} {
			x := tensor.RandN(tensor.Float64, tensor.NewStream(2), batch, config.Channels, config.Image.Height, config.Image.Width)
			g := autograd.NewGraph(autograd.Inference())
			got := e.Forward(&nn.Context{Graph: g}, g.Const(x)).Value()
			close64(t, fmt.Sprintf("%+v, batch of %d", config, batch), got, convolve(e, x))
			if shape := []int{batch, e.Grid().Count(), config.Width}; !slices.Equal(got.Shape(), shape) {
				t.Errorf("%+v: shape %v, want %v", config, got.Shape(), shape)
			}
			g.Close()
		}
	}
}

func TestPatchEmbedGradients(t *testing.T) {
	for _, config := range patchConfigs {
		config.DType = tensor.Float64
		e := must(nn.NewPatchEmbed(config))
		randomize(e, 1)
		x := tensor.RandN(tensor.Float64, tensor.NewStream(2), 2, config.Channels, config.Image.Height, config.Image.Width)
		checkParameters(t, fmt.Sprintf("%+v", config), e, func(c *nn.Context) *autograd.Var { return e.Forward(c, c.Graph.Const(x)) })
		err := gradcheck.Check(func(g *autograd.Graph, in []*autograd.Var) *autograd.Var {
			return e.Forward(&nn.Context{Graph: g, Train: true}, in[0])
		}, x)
		if err != nil {
			t.Errorf("%+v: %v", config, err)
		}
	}
}

// TestPatchEmbedNames: names and shapes are those of checkpoints, and
// InitDefault spreads the weight by all of a patch's elements.
func TestPatchEmbedNames(t *testing.T) {
	e := must(nn.NewPatchEmbed(nn.PatchConfig{Image: nn.Square(32), Patch: nn.Square(8), Channels: 4, Width: 96, Bias: true}))
	var got []string
	for name, p := range nn.Params(e) {
		got = append(got, fmt.Sprint(name, p.Value.Shape()))
	}
	if want := []string{"projection.weight[96 4 8 8]", "projection.bias[96]"}; !slices.Equal(got, want) {
		t.Errorf("parameters %v, want %v", got, want)
	}
	nn.InitDefault(e, tensor.NewStream(1))
	variance := tensor.Item[float32](e.Weight.Value.Var())
	if want := 1.0 / 256; variance < 0.95*float32(want) || variance > 1.05*float32(want) {
		t.Errorf("variance %v, want %v", variance, want)
	}
}

func TestPatchConfigErrors(t *testing.T) {
	for _, row := range []struct {
		change func(c *nn.PatchConfig)
		want   string
	}{
		{func(c *nn.PatchConfig) { c.Patch.Height = 3 }, "height 8 is no multiple of the patch's height 3"},
		{func(c *nn.PatchConfig) { c.Patch.Width = 5 }, "width 12 is no multiple of the patch's width 5"},
		{func(c *nn.PatchConfig) { c.Patch = nn.Square(16) }, "height 8 is no multiple of the patch's height 16"},
		{func(c *nn.PatchConfig) { c.Patch.Width = 0 }, "an image of 8x12 in patches of 4x0"},
		{func(c *nn.PatchConfig) { c.Image.Height = -8 }, "an image of -8x12 in patches of 4x4"},
		{func(c *nn.PatchConfig) { c.Channels = 0 }, "Channels is 0"},
		{func(c *nn.PatchConfig) { c.Width = -1 }, "Width is -1"},
		{func(c *nn.PatchConfig) { c.DType = tensor.Int64 }, "DType is int64"},
		{func(c *nn.PatchConfig) { c.Width, c.Channels = 1<<40, 1<<40 }, "too large"},
	} {
		config := nn.PatchConfig{Image: nn.Size{Height: 8, Width: 12}, Patch: nn.Square(4), Channels: 3, Width: 5}
		row.change(&config)
		layer, err := nn.NewPatchEmbed(config)
		if err == nil || layer != nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%+v: error %v, want %q", config, err, row.want)
		}
	}
}

func TestPatchMisuse(t *testing.T) {
	g := autograd.NewGraph()
	defer g.Close()
	layer := must(nn.NewPatchEmbed(nn.PatchConfig{Image: nn.Size{Height: 4, Width: 6}, Patch: nn.Square(2), Channels: 3, Width: 5}))
	c := &nn.Context{Graph: g}
	for _, row := range []struct {
		name string
		kind tensor.Kind
		want string
		f    func()
	}{
		{"three dims", tensor.RankMismatch, "[3 4 6]", func() { nn.SplitPatches(g.Const(count(3, 4, 6)), nn.Square(2)) }},
		{"no multiple", tensor.ShapeMismatch, "width 6 is no multiple of the patch's width 4",
			func() { nn.SplitPatches(g.Const(count(1, 3, 4, 6)), nn.Square(4)) }},
		{"patches of nothing", tensor.ShapeMismatch, "0x2",
			func() { nn.SplitPatches(g.Const(count(1, 3, 4, 6)), nn.Size{Width: 2}) }},
		{"other channels", tensor.ShapeMismatch, "want images (B, 3, 4, 6), not shape [1 1 4 6]",
			func() { layer.Forward(c, g.Const(count(1, 1, 4, 6))) }},
		{"another size", tensor.ShapeMismatch, "[1 3 6 4]", func() { layer.Forward(c, g.Const(count(1, 3, 6, 4))) }},
		{"an image alone", tensor.ShapeMismatch, "[3 4 6]", func() { layer.Forward(c, g.Const(count(3, 4, 6))) }},
		{"another dtype", tensor.DTypeMismatch, "float64",
			func() { layer.Forward(c, g.Const(count(1, 3, 4, 6).To(tensor.Float64))) }},
	} {
		err := tensor.Catch(row.f)
		wantKind(t, row.name, err, row.kind)
		if err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: error %v, want %q", row.name, err, row.want)
		}
	}
}
