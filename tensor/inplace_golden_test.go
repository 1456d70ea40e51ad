package tensor_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/stria-ml/stria/tensor"
)

// aliasCase is a write through one view of a buffer 1..n, from another view of
// it. The values are PyTorch's, with the source read in full before the first
// write.
type aliasCase struct {
	ID      int
	Shape   []int
	Dst     []viewStep
	Src     []viewStep
	Op      string
	Value   json.RawMessage
	Mask    []bool
	Error   string
	Storage []float64 // the whole buffer afterwards
}

// viewStep is [name, arguments...].
type viewStep struct {
	name  string
	args  []int
	shape []int // expand's argument
}

func (v *viewStep) UnmarshalJSON(data []byte) error {
	var parts []json.RawMessage
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	if err := json.Unmarshal(parts[0], &v.name); err != nil {
		return err
	}
	if v.name == "expand" {
		return json.Unmarshal(parts[1], &v.shape)
	}
	v.args = make([]int, len(parts)-1)
	for i := range v.args {
		if err := json.Unmarshal(parts[i+1], &v.args[i]); err != nil {
			return err
		}
	}
	return nil
}

func (v *viewStep) apply(x *tensor.Tensor) *tensor.Tensor {
	switch a := v.args; v.name {
	case "slice":
		return x.Slice(a[0], a[1], a[2], a[3])
	case "transpose":
		return x.Transpose(a[0], a[1])
	case "select":
		return x.Select(a[0], a[1])
	case "narrow":
		return x.Narrow(a[0], a[1], a[2])
	case "unsqueeze":
		return x.Unsqueeze(a[0])
	case "expand":
		return x.Expand(v.shape...)
	}
	panic("unknown view " + v.name)
}

// write performs the case's operation.
func (c *aliasCase) write(dst, src *tensor.Tensor) error {
	var value float64
	var bounds [2]float64
	switch c.Op {
	case "fill_", "masked_fill_":
		if err := json.Unmarshal(c.Value, &value); err != nil {
			return err
		}
	case "clamp_":
		if err := json.Unmarshal(c.Value, &bounds); err != nil {
			return err
		}
	}
	return tensor.Catch(func() {
		switch c.Op {
		case "copy_":
			dst.CopyFrom(src)
		case "add_":
			dst.AddInPlace(src)
		case "sub_":
			dst.SubInPlace(src)
		case "mul_":
			dst.MulInPlace(src)
		case "div_":
			dst.DivInPlace(src)
		case "fill_":
			dst.Fill(value)
		case "zero_":
			dst.Zero()
		case "clamp_":
			dst.ClampInPlace(bounds[0], bounds[1])
		case "masked_fill_":
			dst.MaskedFillInPlace(tensor.FromSlice(c.Mask, dst.Shape()...), value)
		default:
			panic("unknown operation " + c.Op)
		}
	})
}

func TestAliasingWritesAsPyTorch(t *testing.T) {
	data, err := os.ReadFile("testdata/inplace_alias.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []aliasCase
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) != 200 {
		t.Fatalf("%d cases, want 200", len(cases))
	}
	for _, c := range cases {
		for _, dtype := range []tensor.DType{tensor.Float32, tensor.Float64} {
			t.Run(fmt.Sprintf("%d/%s/%v", c.ID, c.Op, dtype), func(t *testing.T) { c.run(t, dtype) })
		}
	}
}

func (c *aliasCase) run(t *testing.T, dtype tensor.DType) {
	n := 1
	for _, extent := range c.Shape {
		n *= extent
	}
	buffer := tensor.Arange(dtype, 1, float64(n+1), 1)
	dst, src := buffer.View(c.Shape...), buffer.View(c.Shape...)
	for _, v := range c.Dst {
		dst = v.apply(dst)
	}
	for _, v := range c.Src {
		src = v.apply(src)
	}
	err := c.write(dst, src)
	want, version := c.Storage, int64(1)
	if c.Error != "" {
		misuse(t, tensor.InternalOverlap, func() {
			if err != nil {
				panic(err)
			}
		})
		want, version = tensor.Data[float64](tensor.Arange(tensor.Float64, 1, float64(n+1), 1)), 0
	} else if err != nil {
		t.Fatal(err)
	}
	for i, v := range tensor.Data[float64](buffer.To(tensor.Float64)) {
		if math.Abs(v-want[i]) > 1e-6*max(1, math.Abs(want[i])) { // the file has six digits behind the point
			t.Fatalf("element %d is %v, want %v", i, v, want[i])
		}
	}
	if buffer.Version() != version {
		t.Errorf("version is %d, want %d", buffer.Version(), version)
	}
}
