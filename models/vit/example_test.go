package vit_test

import (
	"fmt"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/models/vit"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

func Example() {
	config := vit.Config{
		ImageSize: nn.Square(8), PatchSize: nn.Square(4), NumChannels: 1,
		HiddenSize: 24, IntermediateSize: 48, NumHiddenLayers: 2, NumAttentionHeads: 6, NumKeyValueHeads: 2,
		Labels: []string{"horizontal", "vertical"},
	}
	m, err := vit.New(config, vit.Options{Random: tensor.NewStream(1), Initialization: vit.InitFanIn})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("parameters:", nn.Count(m))

	// learn to tell a horizontal bar from a vertical one
	images, labels := tensor.Zeros(tensor.Float32, 8, 1, 8, 8), tensor.Zeros(tensor.Int64, 8)
	for b := range 8 {
		images.Select(0, b).Select(0, 0).Select(b%2, 2+b/2).Fill(1) // row or column 2 to 5
		labels.Select(0, b).Fill(float64(b % 2))
	}
	g := autograd.NewGraph()
	defer g.Close()
	for range 60 {
		g.Reset()
		nn.ZeroGrad(m)
		c := &nn.Context{Graph: g, Train: true}
		g.Backward(m.Loss(c, g.Const(images), labels, nn.LossOptions{}))
		for _, p := range nn.Params(m) {
			p.Value.SubInPlace(p.Grad.MulScalar(0.05))
		}
	}
	g.Reset()
	logits := m.Forward(&nn.Context{Graph: g}, g.Const(images)).Value() // (B, classes)
	for _, class := range tensor.Data[int64](logits.ArgMax(1)) {
		fmt.Print(config.Labels[class], " ")
	}
	// Output:
	// parameters: 8794
	// horizontal vertical horizontal vertical horizontal vertical horizontal vertical
}

func ExampleParseConfig() {
	_, err := vit.ParseConfig([]byte(`{
		"model_type": "vit", "image_size": 28, "patch_size": 8, "num_channels": 1, "hidden_size": 64, "intermediate_size": 128,
		"num_hidden_layers": 2, "num_attention_heads": 4, "id2label": {"0": "no", "1": "yes"}
	}`))
	fmt.Println(err)
	// Output:
	// vit: config: patch_size: want a divisor of image_size 28x28, found 8x8: the image's height 28 is no multiple of the patch's height 8
}

// A model for images of 8x8 takes images of 16x12.
func ExampleModel_Resize() {
	m, err := vit.New(vit.Config{
		ImageSize: nn.Square(8), PatchSize: nn.Square(4), HiddenSize: 24, IntermediateSize: 48, NumHiddenLayers: 1, NumAttentionHeads: 3,
	}, vit.Options{Random: tensor.NewStream(1)})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Config.Grid(), m.Embeddings.Positions.Value.Shape())
	if err := m.Resize(nn.Size{Height: 16, Width: 12}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Config.Grid(), m.Embeddings.Positions.Value.Shape())
	// Output:
	// 2x2 [1 5 24]
	// 4x3 [1 13 24]
}
