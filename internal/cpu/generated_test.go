package cpu

import (
	"os"
	"regexp"
	"testing"
)

// TestNoAVX512 looks for registers that AVX2 processors lack: the generator
// takes them without a word when sixteen do not suffice. Only the kernels for
// AVX-512, which have a file of their own, may use them.
func TestNoAVX512(t *testing.T) {
	lacking := regexp.MustCompile(`\b([XY](1[6-9]|2\d|3[01])|[ZK]\d+)\b`)
	for _, name := range []string{"gemm/kernels_amd64.s", "vec/kernels_amd64.s", "vecmath/kernels_amd64.s", "rowvec/kernels_amd64.s", "rowvec/softmax_amd64.s", "rowvec/normrows_amd64.s", "scores/kernels_amd64.s", "limits/kernels_amd64.s"} {
		code, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if found := lacking.FindAll(code, 3); found != nil {
			t.Errorf("%s has AVX-512 registers: %q", name, found)
		}
	}
}
