//go:build linux

package safetensors_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stria-ml/stria/checkpoints/safetensors"
	"github.com/stria-ml/stria/tensor"
)

// TestUnmapped gives the mapping back once file and tensors are gone, and not
// before.
func TestUnmapped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model.safetensors")
	err := safetensors.Save(path, []safetensors.Named{{Name: "a", Tensor: tensor.Ones(tensor.Float32, 9)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	mapped := func() bool {
		maps, err := os.ReadFile("/proc/self/maps")
		if err != nil {
			t.Skip(err)
		}
		return strings.Contains(string(maps), path)
	}
	f, err := safetensors.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	a, err := f.Tensor("a")
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	for range 3 {
		runtime.GC()
	}
	if !mapped() {
		t.Fatal("unmapped under a tensor")
	}
	runtime.KeepAlive(a)
	for range 1000 {
		runtime.GC()
		if !mapped() {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Error("still mapped")
}
