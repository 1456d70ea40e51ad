package gqa_test

import (
	"context"
	"fmt"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/models/gqa"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

func Example() {
	config := gqa.Config{
		VocabSize: 10, HiddenSize: 24, IntermediateSize: 48, NumHiddenLayers: 2,
		NumAttentionHeads: 6, NumKeyValueHeads: 2, MaxPositionEmbeddings: 16, TieWordEmbeddings: true,
	}
	m, err := gqa.New(config, gqa.Options{Random: tensor.NewStream(1)})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("parameters:", nn.Count(m))

	// learn to count
	ids := tensor.FromSlice([]int64{0, 1, 2, 3, 4, 5, 6, 7, 8}, 1, 9)
	targets := tensor.FromSlice([]int64{1, 2, 3, 4, 5, 6, 7, 8, 9}, 1, 9)
	g := autograd.NewGraph()
	defer g.Close()
	for range 200 {
		g.Reset()
		nn.ZeroGrad(m)
		c := &nn.Context{Graph: g, Train: true}
		g.Backward(m.Loss(c, ids, targets, nn.LossOptions{}))
		for _, p := range nn.Params(m) {
			p.Value.SubInPlace(p.Grad.MulScalar(0.1))
		}
	}
	out, err := m.Generate(context.Background(), []int64{0, 1, 2}, gqa.GenerateOptions{MaxTokens: 5})
	fmt.Println(out.IDs, out.Reason, err)
	// Output:
	// parameters: 10344
	// [3 4 5 6 7] length <nil>
}

func ExampleParseConfig() {
	_, err := gqa.ParseConfig([]byte(`{
		"model_type": "llama", "vocab_size": 100, "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2,
		"num_attention_heads": 8, "num_key_value_heads": 3, "max_position_embeddings": 256
	}`))
	fmt.Println(err)
	// Output:
	// gqa: config: num_key_value_heads: want a divisor of num_attention_heads 8, found 3
}
