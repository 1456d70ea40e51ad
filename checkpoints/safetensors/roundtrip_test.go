package safetensors_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stria-ml/stria/checkpoints/safetensors"
	"github.com/stria-ml/stria/tensor"
	"pgregory.net/rapid"
)

// randomTensor returns a view of any dtype and layout, and its logical bytes as
// an index-by-index walk finds them.
func randomTensor(t *rapid.T) (*tensor.Tensor, []byte) {
	dtype := tensor.DType(rapid.IntRange(0, 7).Draw(t, "dtype"))
	dims := rapid.IntRange(0, 4).Draw(t, "dims")
	shape, strides := make([]int, dims), make([]int, dims)
	last := 0
	for i := range dims {
		shape[i] = rapid.IntRange(0, 4).Draw(t, "extent")
		strides[i] = rapid.IntRange(0, 7).Draw(t, "stride")
		last += max(0, shape[i]-1) * strides[i]
	}
	offset := rapid.IntRange(0, 3).Draw(t, "offset")
	storage := make([]byte, (offset+last+1)*dtype.Size())
	for i := range storage {
		storage[i] = rapid.Byte().Draw(t, "byte")
		if dtype == tensor.Bool {
			storage[i] &= 1
		}
	}
	flat, err := tensor.FromMapped(storage, nil, dtype, "it is a test's", offset+last+1)
	if err != nil {
		t.Fatal(err)
	}
	return flat.AsStrided(shape, strides, offset), walk(storage, shape, strides, offset, dtype.Size())
}

// walk returns the elements' bytes in logical order.
func walk(storage []byte, shape, strides []int, at, size int) []byte {
	if len(shape) == 0 {
		return storage[at*size : (at+1)*size]
	}
	var out []byte
	for i := range shape[0] {
		out = append(out, walk(storage, shape[1:], strides[1:], at+i*strides[0], size)...)
	}
	return out
}

// TestRoundTrip writes tensors of every dtype and layout and reads them back.
func TestRoundTrip(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.String(), 0, 5, rapid.ID).Draw(t, "names")
		var list []safetensors.Named
		want := map[string][]byte{}
		for _, name := range names {
			v, logical := randomTensor(t)
			list = append(list, safetensors.Named{Name: name, Tensor: v})
			want[name] = logical
		}
		notes := rapid.MapOfN(rapid.String(), rapid.String(), 0, 3).Draw(t, "metadata")
		path := filepath.Join(dir, "t.safetensors")
		if err := safetensors.Save(path, list, notes); err != nil {
			t.Fatal(err)
		}
		f, err := safetensors.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if len(f.Infos()) != len(list) || fmt.Sprint(f.Metadata()) != fmt.Sprint(notes) {
			t.Fatalf("%d tensors, metadata %v; want %d, %v", len(f.Infos()), f.Metadata(), len(list), notes)
		}
		stop := tensor.ForbidCopies() // what we write is aligned
		defer stop()
		for _, n := range list {
			got, err := f.Tensor(n.Name)
			if err != nil {
				t.Fatal(err)
			}
			if got.DType() != n.Tensor.DType() || !slices.Equal(got.Shape(), n.Tensor.Shape()) {
				t.Fatalf("%q is %v %v, want %v %v", n.Name, got.DType(), got.Shape(), n.Tensor.DType(), n.Tensor.Shape())
			}
			if !bytes.Equal(tensor.Bytes(got), want[n.Name]) {
				t.Fatalf("%q has other values", n.Name)
			}
		}
	})
}

// TestDeterministic writes the same bytes for the same tensors in any order.
func TestDeterministic(t *testing.T) {
	list := []safetensors.Named{
		{Name: "b", Tensor: tensor.Arange(tensor.Float32, 0, 6, 1).View(2, 3).T()},
		{Name: "a", Tensor: tensor.Ones(tensor.Float32, 2)},
		{Name: "c", Tensor: tensor.Ones(tensor.Float64, 1)},
	}
	notes := map[string]string{"z": "1", "a": "2", "m": "3"}
	var first bytes.Buffer
	for i := range 20 {
		var out bytes.Buffer
		if err := safetensors.Write(&out, list, notes); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = out
		}
		if !bytes.Equal(out.Bytes(), first.Bytes()) {
			t.Fatal("other bytes at another time")
		}
		slices.Reverse(list)
	}
	want := `{"__metadata__":{"a":"2","m":"3","z":"1"},"c":{"dtype":"F64","shape":[1],"data_offsets":[0,8]},` +
		`"a":{"dtype":"F32","shape":[2],"data_offsets":[8,16]},"b":{"dtype":"F32","shape":[3,2],"data_offsets":[16,40]}}`
	if got := first.String()[8 : first.Len()-40]; strings.TrimRight(got, " ") != want || len(got)%8 != 0 {
		t.Errorf("header %q, want %q", got, want)
	}
}

// TestUnwritable refuses what a file cannot hold.
func TestUnwritable(t *testing.T) {
	one := tensor.Ones(tensor.Float32, 1)
	for name, list := range map[string][]safetensors.Named{
		"twice":     {{Name: "a", Tensor: one}, {Name: "a", Tensor: one}},
		"metadata":  {{Name: "__metadata__", Tensor: one}},
		"not UTF-8": {{Name: "\xff", Tensor: one}},
		"too large": {{Name: "a", Tensor: one.AsStrided([]int{math.MaxInt/2 + 1}, []int{0}, 0)}},
		"too many":  {{Name: "a", Tensor: one.AsStrided([]int{math.MaxInt/8 + 1}, []int{0}, 0)}, {Name: "b", Tensor: one.AsStrided([]int{math.MaxInt/8 + 1}, []int{0}, 0)}},
	} {
		path := filepath.Join(t.TempDir(), "model.safetensors")
		if err := safetensors.Save(path, list, nil); err == nil {
			t.Errorf("%s was written", name)
		}
		if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 0 {
			t.Errorf("%s left %v", name, left)
		}
	}
	if err := safetensors.Write(&bytes.Buffer{}, nil, map[string]string{"k": "\xff"}); err == nil {
		t.Error("metadata that is not UTF-8 was written")
	}
}

// TestFormerFile leaves the former file where the new one cannot be written.
func TestFormerFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model.safetensors")
	good := safetensors.Named{Name: "a", Tensor: tensor.Ones(tensor.Float32, 3)}
	if err := safetensors.Save(path, []safetensors.Named{good}, nil); err != nil {
		t.Fatal(err)
	}
	former, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := safetensors.Save(path, []safetensors.Named{good, good}, nil); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v", err)
	}
	now, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(now, former) {
		t.Errorf("the file changed: %v", err)
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Errorf("there are %v now", left)
	}
}

// failAfter fails once more than that many bytes were written.
type failAfter struct{ left int }

func (w *failAfter) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

var errFull = errors.New("the disk is full")

// TestWriteFails returns a writer's error wherever it comes.
func TestWriteFails(t *testing.T) {
	list := []safetensors.Named{{Name: "a", Tensor: tensor.Ones(tensor.Float32, 40_000)}}
	for _, room := range []int{0, 7, 8, 50, 1 << 16, 160_000} {
		if err := safetensors.Write(&failAfter{room}, list, nil); !errors.Is(err, errFull) {
			t.Errorf("after %d bytes: %v", room, err)
		}
	}
}

// TestMapped shares the file: read-only, and valid after Close and as long as a
// view of it lives.
func TestMapped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model.safetensors")
	values := tensor.Arange(tensor.Float32, 0, 1<<16, 1)
	if err := safetensors.Save(path, []safetensors.Named{{Name: "a", Tensor: values}}, nil); err != nil {
		t.Fatal(err)
	}
	f, err := safetensors.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	a, err := f.Tensor("a")
	if err != nil {
		t.Fatal(err)
	}
	view := a.View(256, 256).T().Narrow(0, 7, 3)
	want := tensor.Data[float32](view)
	f.Close()
	if _, err := f.Tensor("a"); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("after Close: %v", err)
	}
	a, f = nil, nil
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		runtime.GC()
	}
	if got := tensor.Data[float32](view); !slices.Equal(got, want) {
		t.Error("other values after Close and collection")
	}
	err = tensor.Catch(func() { view.Fill(0) })
	if e := (*tensor.Error)(nil); !errors.As(err, &e) || e.Kind != tensor.ReadOnly || !strings.Contains(e.Error(), path) {
		t.Errorf("a write gave %v", err)
	}
	if err := tensor.Catch(func() { view.Clone().Fill(0) }); err != nil {
		t.Errorf("a write to a clone gave %v", err)
	}
}
