package vit_test

import (
	"fmt"
	"testing"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/models/vit"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

// BenchmarkStep is a forward and backward pass over 64 images: grey ones of
// 28x28 in patches of 7x7 at width 64, and RGB ones of 32x32 in patches of 4x4 at
// width 192.
func BenchmarkStep(b *testing.B) {
	for _, size := range []struct{ image, patch, channels, width, layers int }{{28, 7, 1, 64, 4}, {32, 4, 3, 192, 6}} {
		b.Run(fmt.Sprintf("width%d", size.width), func(b *testing.B) {
			config := vit.Config{
				ImageSize: nn.Square(size.image), PatchSize: nn.Square(size.patch), NumChannels: size.channels,
				HiddenSize: size.width, IntermediateSize: 4 * size.width, NumHiddenLayers: size.layers, NumAttentionHeads: size.width / 32,
				Labels: make([]string, 10),
			}
			m := newModel(b, config, vit.Options{})
			const images = 64
			s := tensor.NewStream(1)
			pixels := tensor.RandN(tensor.Float32, s, images, size.channels, size.image, size.image)
			labels := tensor.RandInt(s, 10, images)
			var params []*autograd.Param
			for _, p := range nn.Params(m) {
				params = append(params, p)
			}
			g := autograd.NewGraph()
			defer g.Close()
			c := &nn.Context{Graph: g, Train: true}
			step := func() {
				g.Reset()
				for _, p := range params {
					p.ZeroGrad()
				}
				g.Backward(m.Loss(c, g.Const(pixels), labels, nn.LossOptions{}))
			}
			for range 3 {
				step() // the graph and the kernels get their memory
			}
			b.ReportAllocs()
			for b.Loop() {
				step()
			}
			b.ReportMetric(float64(b.N*images)/b.Elapsed().Seconds(), "images/s")
		})
	}
}
