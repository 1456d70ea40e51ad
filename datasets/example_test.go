package datasets_test

import (
	"fmt"

	"github.com/stria-ml/stria/datasets"
	"github.com/stria-ml/stria/tokenizer"
)

// One batch of sums: the model reads inputs, and learns the answer and the line
// end after it.
func Example() {
	add, err := datasets.NewAddition(datasets.AdditionConfig{Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(add.Train()), "pairs to train on,", len(add.HeldOut()), "held out")

	loader, err := datasets.NewLoader(add.TrainSource(), datasets.LoaderConfig{BatchSize: 3, Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	inputs := make([]int64, loader.BatchSize()*loader.Context())
	targets := make([]int64, len(inputs))
	if err := loader.Next(inputs, targets); err != nil {
		fmt.Println(err)
		return
	}
	for b := range loader.BatchSize() {
		row := inputs[b*loader.Context() : (b+1)*loader.Context()]
		text, _ := add.Tokenizer().Decode(row)
		fmt.Printf("%q %v\n", text, targets[b*loader.Context():(b+1)*loader.Context()])
	}
	// Output:
	// 9000 pairs to train on, 1000 held out
	// "49+24=73\n" [-100 -100 -100 -100 -100 10 6 0 -100]
	// "42+95=137" [-100 -100 -100 -100 -100 4 6 10 0]
	// "47+50=97\n" [-100 -100 -100 -100 -100 12 10 0 -100]
}

// A saved position belongs to its data, seed, batch size and context.
func ExampleLoader_Restore() {
	add, err := datasets.NewAddition(datasets.AdditionConfig{Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	loader, err := datasets.NewLoader(add.TrainSource(), datasets.LoaderConfig{BatchSize: 64, Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	state := loader.State()
	fmt.Println(state.Dataset)

	state.Batches = 500
	fmt.Println(loader.Restore(state), loader.Batches())
	state.BatchSize = 32
	fmt.Println(loader.Restore(state))
	// Output:
	// addition train pairs=9000 of 10000 seed=1
	// <nil> 500
	// datasets: the saved position is of batch size 32, and this loader is of batch size 64
}

// The last part of a text is for validation, and every token of it is a target once.
func ExampleText_ValidationSource() {
	text, err := datasets.NewText("abcdefghijklmnopqrst", datasets.TextConfig{
		Context:     3,
		ValFraction: 0.2,
		Tokenizer:   tokenizer.Bytes{},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	pass, err := datasets.NewPass(text.ValidationSource(), 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	inputs, targets := make([]int64, 3), make([]int64, 3)
	for {
		rows, err := pass.Next(inputs, targets)
		if rows == 0 || err != nil {
			break
		}
		fmt.Println(inputs, targets)
	}
	// Output:
	// [112 113 114] [113 114 115]
	// [115 0 0] [116 -100 -100]
}
