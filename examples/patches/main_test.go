package main

func Example() {
	main()
	// Output:
	// step                   shape          strides          how
	// image                  [2 4 6]        [24 6 1]         view
	// cut rows and columns   [2 2 2 2 3]    [24 12 6 3 1]    view
	// grid first             [2 2 2 2 3]    [12 3 24 6 1]    view
	//     implicit copy in reshape: 384 bytes
	// a row for each patch   [4 12]         [12 1]           copied
	// back: rows split       [2 2 2 2 3]    [24 12 6 3 1]    view
	// back: channels first   [2 2 2 2 3]    [6 24 3 12 1]    view
	//     implicit copy in reshape: 384 bytes
	// the image again        [2 4 6]        [24 6 1]         copied
	// the same elements: true
	//
	// row 2 is row 0 of patches 1 down, column 4 is column 1 of patches 1 across
	// image    at [1 2 4]      place 40 holds 40
	// cut      at [1 1 0 1 1]  place 40 holds 40
	// moved    at [1 1 1 0 1]  place 40 holds 40
	// patches  at [3 7]        place 43 holds 40
	//
	// place in the image's memory -> patch:place in its row
	//   0  1  2  3  4  5   ->    0:0  0:1  0:2  1:0  1:1  1:2
	//   6  7  8  9 10 11   ->    0:3  0:4  0:5  1:3  1:4  1:5
	//  12 13 14 15 16 17   ->    2:0  2:1  2:2  3:0  3:1  3:2
	//  18 19 20 21 22 23   ->    2:3  2:4  2:5  3:3  3:4  3:5
	//
	//  24 25 26 27 28 29   ->    0:6  0:7  0:8  1:6  1:7  1:8
	//  30 31 32 33 34 35   ->    0:9 0:10 0:11  1:9 1:10 1:11
	//  36 37 38 39 40 41   ->    2:6  2:7  2:8  3:6  3:7  3:8
	//  42 43 44 45 46 47   ->    2:9 2:10 2:11  3:9 3:10 3:11
	//
	// patches, a row each:
	// [0 1 2 6 7 8 24 25 26 30 31 32]
	// [3 4 5 9 10 11 27 28 29 33 34 35]
	// [12 13 14 18 19 20 36 37 38 42 43 44]
	// [15 16 17 21 22 23 39 40 41 45 46 47]
	//
	// without the permutation, rows of the right shape, but bands of the image:
	// [0 1 2 3 4 5 6 7 8 9 10 11]
	// [12 13 14 15 16 17 18 19 20 21 22 23]
	// [24 25 26 27 28 29 30 31 32 33 34 35]
	// [36 37 38 39 40 41 42 43 44 45 46 47]
	//
	// weight [8 2 2 3] images [5 2 4 6] vectors [5 4 8] copies 1
}
