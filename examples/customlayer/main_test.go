package main

func Example() {
	main()
	// Output:
	// base.weight      [6 8] frozen=true
	// base.bias        [6] frozen=true
	// lora_down.weight [2 8] frozen=false
	// lora_up.weight   [6 2] frozen=false
	// loss 25.7 at first, below 1e-4 at last: true
	// base unchanged: true
}
