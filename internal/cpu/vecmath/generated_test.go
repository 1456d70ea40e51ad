package vecmath

import (
	"os"
	"regexp"
	"testing"
)

// TestNoAVX512 looks for registers that AVX2 processors lack: the generator
// takes them without a word when sixteen do not suffice.
func TestNoAVX512(t *testing.T) {
	code, err := os.ReadFile("kernels_amd64.s")
	if err != nil {
		t.Fatal(err)
	}
	if found := regexp.MustCompile(`\b([XY](1[6-9]|2\d|3[01])|[ZK]\d+)\b`).FindAll(code, 3); found != nil {
		t.Errorf("AVX-512 registers: %q", found)
	}
}
