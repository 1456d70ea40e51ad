//go:build amd64 && !purego

package vecmath

// sets are the forms of the functions that this build has.
var sets = []*set{&portable, &avx2, &avx512}
