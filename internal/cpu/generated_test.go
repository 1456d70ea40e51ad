package cpu

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestNoAVX512 looks for registers that AVX2 processors lack: the generator
// takes them without a word when sixteen do not suffice. Only the kernels for
// AVX-512, which have a file of their own, may use them.
func TestNoAVX512(t *testing.T) {
	lacking := regexp.MustCompile(`\b([XY](1[6-9]|2\d|3[01])|[ZK]\d+)\b`)
	files, err := filepath.Glob("*/*_amd64.s")
	if err != nil || len(files) < 6 {
		t.Fatalf("assembly in %v, %v", files, err)
	}
	for _, name := range files {
		if strings.Contains(name, "512") {
			continue
		}
		code, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if found := lacking.FindAll(code, 3); found != nil {
			t.Errorf("%s has AVX-512 registers: %q", name, found)
		}
	}
}
