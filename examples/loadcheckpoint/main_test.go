package main

import "log"

func Example() {
	if err := tour(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// llama: 36816 parameters, 2 layers of 6 query heads over 2 key/value heads of width 8
	// stored as tiled heads, interleaved rotary (heads learned from config.json, rotary layout from config.json)
	// after 1 2 3, greedily: 6 tokens, then length
	// logits as before: true
	// [head order interleaved, as asked for; config.json says tiled]
	// logits off by more than 0.1: true
}
