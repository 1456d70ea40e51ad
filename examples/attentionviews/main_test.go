package main

func Example() {
	main()
	// Output:
	// step                            shape           strides              how
	// q projection                    [2 4 30]        [120 30 1]           computed
	// k projection                    [2 4 10]        [40 10 1]            computed
	// q split into heads              [2 4 2 3 5]     [120 30 15 5 1]      view
	// q heads first                   [2 2 3 4 5]     [120 15 5 30 1]      view
	// k split into heads              [2 4 2 1 5]     [40 10 5 5 1]        view
	// k heads first                   [2 2 1 4 5]     [40 5 5 10 1]        view
	// k transposed                    [2 2 1 5 4]     [40 5 5 1 10]        view
	// scores = q kT / sqrt(d)         [2 2 3 4 4]     [96 48 16 4 1]       computed
	// weights = softmax               [2 2 3 4 4]     [96 48 16 4 1]       computed
	// out = weights v                 [2 2 3 4 5]     [120 60 20 5 1]      computed
	// tokens before heads             [2 4 2 3 5]     [120 5 60 20 1]      view
	//     implicit copy in reshape: 960 bytes
	// heads merged                    [2 4 30]        [120 30 1]           copied
	//
	// 10*head + token, token 0's row when merged with the permutation and without:
	// [0 10 20 30 40 50]
	// [0 1 2 3 10 11]
	//
	// fused attention                 [2 2 3 4 5]     [120 15 5 30 1]      computed
	// tokens before heads             [2 4 2 3 5]     [120 30 15 5 1]      view
	// heads merged                    [2 4 30]        [120 30 1]           view
	// same as step by step: true
}
