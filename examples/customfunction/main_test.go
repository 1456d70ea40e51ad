package main

func Example() {
	main()
	// Output:
	// softplus  [0.0000 0.3133 0.6931 1.3133 100.0000]
	// gradient  [0.0000 0.2689 0.5000 0.7311 1.0000]
	// gradient check passed
	// stale: true
	// tensor: softplus: a tensor of shape [5] that the backward of softplus needs was modified in place: its storage is at version 1, and was at 0 when it was saved; write to a Clone, or after Backward
}
