//go:build linux

package safetensors_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
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

// TestPipe refuses a pipe rather than wait for it.
func TestPipe(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, safetensors.IndexFile)
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	_, openErr := safetensors.Open(path)
	_, _, headerErr := safetensors.ReadHeader(path)
	_, folderErr := safetensors.OpenFolder(dir)
	for _, err := range []error{openErr, headerErr, folderErr} {
		if err == nil || !strings.Contains(err.Error(), path+": not a regular file") {
			t.Errorf("error %v", err)
		}
	}
}

// TestHeldDuring keeps the mapping while an operation reads a tensor that
// nobody else holds.
func TestHeldDuring(t *testing.T) {
	const n = 1 << 11
	path := filepath.Join(t.TempDir(), "model.safetensors")
	ones := []safetensors.Named{{Name: "f16", Tensor: tensor.Ones(tensor.Float16, n, n)}, {Name: "f32", Tensor: tensor.Ones(tensor.Float32, n, n)}}
	if err := safetensors.Save(path, ones, nil); err != nil {
		t.Fatal(err)
	}
	vector, matrix := tensor.Ones(tensor.Float32, n, 1), tensor.Ones(tensor.Float32, n, 40)
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC()
			}
		}
	}()
	for range 2 {
		for name, sum := range map[string]*tensor.Tensor{
			"convert": only(t, path, "f16").To(tensor.Float32),
			"bytes":   tensor.Wrap(tensor.Bytes(only(t, path, "f16"))[:1]).To(tensor.Float32), // read in full
			"sum":     only(t, path, "f32").Sum(),
			"arg max": only(t, path, "f32").ArgMax(1).To(tensor.Float32),
			"unary":   only(t, path, "f32").T().Exp(),
			"softmax": only(t, path, "f32").Softmax(1),
			"vector":  only(t, path, "f32").MatMul(vector),
			"matrix":  only(t, path, "f32").MatMul(matrix),
			"turned":  matrix.T().MatMul(only(t, path, "f32")),
			"select":  only(t, path, "f32").IndexSelect(0, tensor.Zeros(tensor.Int64, n)),
		} {
			if v := float64(tensor.Item[float32](sum.Sum())); !(v >= 0) {
				t.Fatalf("%s: sum %v", name, v)
			}
		}
	}
}

// only returns a file's tensor, which alone keeps the file mapped.
func only(t *testing.T, path, name string) *tensor.Tensor {
	t.Helper()
	f, err := safetensors.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	a, err := f.Tensor(name)
	if err != nil {
		t.Fatal(err)
	}
	return a
}
