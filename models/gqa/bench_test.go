package gqa_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/models/gqa"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

// BenchmarkStep is a forward and backward pass: a character model of width 128
// (batch 12, context 64), and one of width 256 on 2,048 tokens.
func BenchmarkStep(b *testing.B) {
	for _, size := range []struct{ width, batch, context int }{{128, 12, 64}, {256, 8, 256}} {
		b.Run(fmt.Sprintf("width%d", size.width), func(b *testing.B) {
			m := newModel(b, gqa.Config{
				VocabSize: 65, HiddenSize: size.width, IntermediateSize: 4 * size.width, NumHiddenLayers: 4,
				NumAttentionHeads: 4, NumKeyValueHeads: 2, MaxPositionEmbeddings: size.context,
			}, gqa.Options{})
			s := tensor.NewStream(1)
			ids, targets := tensor.RandInt(s, 65, size.batch, size.context), tensor.RandInt(s, 65, size.batch, size.context)
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
				g.Backward(m.Loss(c, ids, targets, nn.LossOptions{}))
			}
			for range 3 {
				step() // the graph and the kernels get their memory
			}
			b.ReportAllocs()
			for b.Loop() {
				step()
			}
			b.ReportMetric(float64(b.N*size.batch*size.context)/b.Elapsed().Seconds(), "tokens/s")
		})
	}
}

// BenchmarkGenerate is 200 tokens, one at a time.
func BenchmarkGenerate(b *testing.B) {
	m := newModel(b, gqa.Config{
		VocabSize: 65, HiddenSize: 128, IntermediateSize: 512, NumHiddenLayers: 4,
		NumAttentionHeads: 4, NumKeyValueHeads: 2, MaxPositionEmbeddings: 256,
	}, gqa.Options{})
	b.ReportAllocs()
	for b.Loop() {
		o := gqa.GenerateOptions{MaxTokens: 200, Sampling: gqa.Sampling{Temperature: 0.8, TopK: 20, TopP: 0.95}}
		if _, err := m.Generate(context.Background(), []int64{1, 2, 3}, o); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(200*b.N)/b.Elapsed().Seconds(), "tokens/s")
}
