// Command loadcheckpoint loads the weights of a language model from a folder in
// Hugging Face's layout, says what it found, and continues a prompt of token
// ids:
//
//	go run ./examples/loadcheckpoint [FOLDER]
//
// Without a folder it writes a tiny model of random weights first, with heads in
// tiled order and rotary pairs interleaved, and shows that loading converts
// them exactly, and what happens to one who gets the order wrong.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/checkpoints"
	"github.com/stria-ml/stria/models/gqa"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

func main() {
	run := tour
	if len(os.Args) > 1 {
		run = func() error { return load(os.Args[1]) }
	}
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

// load loads a model, describes it and generates from it.
func load(path string) error {
	m, report, err := checkpoints.LoadGQA(path, checkpoints.LoadOptions{})
	if err != nil {
		return err
	}
	for _, note := range report.Notes {
		fmt.Println("note:", note)
	}
	c := m.Config
	fmt.Printf("%s: %d parameters, %d layers of %d query heads over %d key/value heads of width %d\n",
		c.ModelType, nn.Count(m), c.NumHiddenLayers, c.NumAttentionHeads, c.NumKeyValueHeads, c.HeadDim)
	fmt.Printf("stored as %v (heads learned from %s, rotary layout from %s)\n", report.Layout, report.Origin.Heads, report.Origin.Rotary)
	generation, err := m.Generate(context.Background(), []int64{1, 2, 3}, gqa.GenerateOptions{MaxTokens: 6})
	if err != nil {
		return err
	}
	fmt.Printf("after 1 2 3, greedily: %d tokens, then %v\n", len(generation.IDs), generation.Reason)
	return nil
}

// tour writes a tiny checkpoint and loads it rightly and wrongly.
func tour() error {
	dir, err := os.MkdirTemp("", "stria")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "tiny")

	m, err := gqa.New(gqa.Config{
		ModelType: "llama", VocabSize: 61, HiddenSize: 48, IntermediateSize: 64, NumHiddenLayers: 2,
		NumAttentionHeads: 6, NumKeyValueHeads: 2, HeadDim: 8, MaxPositionEmbeddings: 64, InitializerRange: 0.3,
	}, gqa.Options{Random: tensor.NewStream(1)})
	if err != nil {
		return err
	}
	layout := checkpoints.Layout{Heads: nn.HeadsTiled, Rotary: nn.RotaryInterleaved}
	if err := checkpoints.SaveGQA(path, m, checkpoints.SaveOptions{Layout: layout}); err != nil {
		return err
	}
	if err := load(path); err != nil {
		return err
	}

	want := logits(m)
	right, _, err := checkpoints.LoadGQA(path, checkpoints.LoadOptions{})
	if err != nil {
		return err
	}
	fmt.Println("logits as before:", distance(logits(right), want) == 0)

	// An override is obeyed, and noted.
	heads := nn.HeadsInterleaved
	wrong, report, err := checkpoints.LoadGQA(path, checkpoints.LoadOptions{FromHeads: &heads})
	if err != nil {
		return err
	}
	fmt.Println(report.Notes)
	fmt.Println("logits off by more than 0.1:", distance(logits(wrong), want) > 0.1)
	return nil
}

// logits returns the model's logits (1, T, V) for a few tokens.
func logits(m *gqa.Model) *tensor.Tensor {
	g := autograd.NewGraph(autograd.Inference())
	defer g.Close()
	ids := tensor.FromSlice([]int64{7, 1, 30, 22, 5}, 1, 5)
	return m.Forward(&nn.Context{Graph: g}, ids).Value().Clone()
}

// distance is the largest difference between elements.
func distance(a, b *tensor.Tensor) float32 { return tensor.Item[float32](a.Sub(b).Abs().Max()) }
