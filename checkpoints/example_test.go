package checkpoints_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/stria-ml/stria/checkpoints"
	"github.com/stria-ml/stria/checkpoints/safetensors"
	"github.com/stria-ml/stria/models/gqa"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

// A model in tiled heads is converted as it is loaded, and back as it is saved.
func Example() {
	m, report, err := checkpoints.LoadGQA("testdata/llama_tiled_rope_interleaved", checkpoints.LoadOptions{})
	if err != nil {
		panic(err)
	}
	fmt.Println("loaded", report.Layout, "from", report.Origin.Heads)

	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	half := tensor.BFloat16
	err = checkpoints.SaveGQA(filepath.Join(dir, "model"), m, checkpoints.SaveOptions{
		Layout: checkpoints.Layout{Heads: nn.HeadsTiled}, DType: &half,
	})
	if err != nil {
		panic(err)
	}
	s, err := checkpoints.Inspect(filepath.Join(dir, "model"))
	if err != nil {
		panic(err)
	}
	fmt.Println("saved", s.Layout.HeadOrder, "heads,", s.Layout.RopeLayout, "rotary,", s.DTypes)
	// Output:
	// loaded tiled heads, interleaved rotary from config.json
	// saved tiled heads, half rotary, map[bfloat16:36048]
}

// A file whose config.json says nothing, but whose origin is known.
func ExampleLoadGQA_override() {
	tiled, interleaved := nn.HeadsTiled, nn.RotaryInterleaved
	_, report, err := checkpoints.LoadGQA("testdata/llama_interleaved", checkpoints.LoadOptions{
		FromHeads: &tiled, FromRotary: &interleaved,
	})
	if err != nil {
		panic(err)
	}
	for _, note := range report.Notes {
		fmt.Println(note)
	}
	// Output:
	// head order tiled, as asked for; Hugging Face's default says interleaved
	// rotary layout interleaved, as asked for; Hugging Face's default says half
}

// Layers of a user's own are filled under the names that a file gives them.
func ExampleFill() {
	linear, err := nn.NewLinear(nn.LinearConfig{In: 2, Out: 3})
	if err != nil {
		panic(err)
	}
	slots := checkpoints.Slots(linear, func(s *checkpoints.Slot) {
		s.Name = "encoder." + s.Name
		s.Shape = []int{2, 3} // the file has it the other way round
		s.FromFile, s.ToFile = (*tensor.Tensor).T, (*tensor.Tensor).T
	})

	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "encoder.safetensors")
	stored := tensor.Arange(tensor.Float32, 0, 6, 1).View(2, 3)
	if err := safetensors.Save(path, []safetensors.Named{{Name: "encoder.weight", Tensor: stored}}, nil); err != nil {
		panic(err)
	}
	f, err := safetensors.Open(path)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	if _, err := checkpoints.Fill(slots, f, checkpoints.FillOptions{}); err != nil {
		panic(err)
	}
	fmt.Println(linear.Weight.Value)
	// Output:
	// tensor([[0., 3.],
	//         [1., 4.],
	//         [2., 5.]])
}

// A new model, saved and loaded.
func ExampleSaveGQA() {
	m, err := gqa.New(gqa.Config{
		VocabSize: 32, HiddenSize: 24, IntermediateSize: 32, NumHiddenLayers: 1,
		NumAttentionHeads: 6, NumKeyValueHeads: 2, MaxPositionEmbeddings: 16,
	}, gqa.Options{Random: tensor.NewStream(1)})
	if err != nil {
		panic(err)
	}
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	if err := checkpoints.SaveGQA(dir, m, checkpoints.SaveOptions{MaxShardBytes: 8000}); err != nil {
		panic(err)
	}
	again, report, err := checkpoints.LoadGQA(dir, checkpoints.LoadOptions{})
	if err != nil {
		panic(err)
	}
	fmt.Println(nn.Count(again), "parameters,", report.Filled.Copied, "bytes copied")
	// Output:
	// 5448 parameters, 21792 bytes copied
}

// A vision transformer for images of 12x12, loaded for images of 12x20.
func ExampleLoadViT() {
	m, report, err := checkpoints.LoadViT("testdata/vit", checkpoints.ViTLoadOptions{ImageSize: nn.Size{Height: 12, Width: 20}})
	if err != nil {
		panic(err)
	}
	fmt.Println(m.Config.Labels)
	fmt.Println(report.Notes[0])
	// Output:
	// [class_0 class_1 class_2 class_3 class_4]
	// images of 12x20 instead of 12x12: positions interpolated from a grid of 3x3 to 3x5
}

// The names that a vision transformer's parameters have in files.
func ExampleViTSlots() {
	m, _, err := checkpoints.LoadViT("testdata/vit_wide_gqa", checkpoints.ViTLoadOptions{})
	if err != nil {
		panic(err)
	}
	for _, slot := range checkpoints.ViTSlots(m)[2:8] {
		fmt.Println(slot.Name, slot.Shape)
	}
	// Output:
	// vit.embeddings.patch_embeddings.projection.weight [24 2 4 3]
	// vit.embeddings.patch_embeddings.projection.bias [24]
	// vit.encoder.layer.0.layernorm_before.weight [24]
	// vit.encoder.layer.0.layernorm_before.bias [24]
	// vit.encoder.layer.0.attention.attention.query.weight [24 24]
	// vit.encoder.layer.0.attention.attention.query.bias [24]
}
