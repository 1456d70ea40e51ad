package cpu_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/cpu"
)

// goldenArray is an array of the reference file: logical values, or storage
// and where the elements lie in it.
type goldenArray struct {
	DType   string
	Shape   []int
	Values  []any // null is NaN
	Strides []int
	Offset  int
	Storage []float64
}

// goldenCase is one operation with its gradients, computed by PyTorch.
type goldenCase struct {
	ID      int
	Op      string
	Args    map[string]any
	Inputs  []goldenArray
	Out     goldenArray
	GradOut goldenArray `json:"grad_out"`
	Grads   map[string]goldenArray
}

func (g *goldenArray) floats() []float64 {
	v := make([]float64, len(g.Values))
	for i, value := range g.Values {
		switch value := value.(type) {
		case nil:
			v[i] = math.NaN()
		case float64:
			v[i] = value
		case bool:
			if value {
				v[i] = 1
			}
		}
	}
	return v
}

// array puts the values where the file says.
func (g *goldenArray) array(dtype backend.DType) *array {
	if g.Storage == nil {
		if g.DType != "" {
			dtype = backend.Int64
		}
		return newArray(rand.New(rand.NewPCG(1, 1)), dtype, contiguous, g.Shape...).set(g.floats())
	}
	a := &array{Operand: backend.Operand{DType: dtype, Shape: g.Shape, Strides: g.Strides, Offset: g.Offset}}
	a.Mem, _ = cpu.Device{}.Alloc(len(g.Storage) * dtype.Size())
	for i, v := range g.Storage {
		a.put(i, v)
	}
	return a
}

// headsOnly drops the dim of extent 1 that stands for the group in k and v.
func (a *array) headsOnly() *array {
	a.Shape = append(append([]int(nil), a.Shape[:2]...), a.Shape[3:]...)
	a.Strides = append(append([]int(nil), a.Strides[:2]...), a.Strides[3:]...)
	return a
}

func TestGolden(t *testing.T) {
	file, err := os.ReadFile("testdata/fused_ops.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []goldenCase
	if err := json.Unmarshal(file, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) != 22 {
		t.Fatalf("%d cases, want 22", len(cases))
	}
	for _, c := range cases {
		for _, dtype := range []backend.DType{backend.Float32, backend.Float64} {
			t.Run(fmt.Sprint(c.Op, c.ID, dtype), func(t *testing.T) { c.run(t, dtype) })
		}
	}
}

func (c *goldenCase) run(t *testing.T, dtype backend.DType) {
	var in []*array
	for i := range c.Inputs {
		in = append(in, c.Inputs[i].array(dtype))
	}
	var out, dy *array
	blank := func(shape ...int) *array {
		return newArray(rand.New(rand.NewPCG(1, 1)), dtype, contiguous, shape...)
	}
	out, dy = blank(c.Out.Shape...), c.GradOut.array(dtype)
	var grads []*array
	for range in {
		grads = append(grads, &array{})
	}
	for i := range in {
		if g, ok := c.Grads[fmt.Sprint(i)]; ok {
			grads[i] = blank(g.Shape...)
		}
	}
	d := cpu.Device{}
	eps, _ := c.Args["eps"].(float64)
	switch c.Op {
	case "softmax", "log_softmax":
		op := backend.Softmax
		if c.Op == "log_softmax" {
			op = backend.LogSoftmax
		}
		dim := (int(c.Args["dim"].(float64)) + len(out.Shape)) % len(out.Shape)
		d.Softmax(op, out.Operand, in[0].Operand, dim)
		d.SoftmaxGrad(op, grads[0].Operand, out.Operand, dy.Operand, dim)
	case "masked_softmax":
		x, mask := in[0].values(), in[1].values()
		for i := range x {
			if mask[i] != 0 {
				x[i] = math.Inf(-1)
			}
		}
		d.Softmax(backend.Softmax, out.Operand, blank(out.Shape...).set(x).Operand, 1)
		d.SoftmaxGrad(backend.Softmax, grads[0].Operand, out.Operand, dy.Operand, 1)
	case "rms_norm":
		rstd := blank(out.Shape[:2]...)
		d.RMSNorm(out.Operand, rstd.Operand, in[0].Operand, in[1].Operand, eps)
		d.RMSNormGrad(grads[0].Operand, grads[1].Operand, in[0].Operand, in[1].Operand, rstd.Operand, dy.Operand, backend.NormAccumulate{})
	case "layer_norm":
		mean, rstd := blank(out.Shape[:2]...), blank(out.Shape[:2]...)
		d.LayerNorm(out.Operand, mean.Operand, rstd.Operand, in[0].Operand, in[1].Operand, in[2].Operand, eps)
		d.LayerNormGrad(grads[0].Operand, grads[1].Operand, grads[2].Operand, in[0].Operand, in[1].Operand, mean.Operand, rstd.Operand, dy.Operand, backend.NormAccumulate{})
	case "cross_entropy":
		c.crossEntropy(in, grads, out, dy)
	case "gqa_attention":
		for _, a := range []*array{in[1], in[2], grads[1], grads[2]} {
			a.headsOnly()
		}
		causal, _ := c.Args["causal"].(bool)
		p := backend.AttentionParams{Scale: 1 / math.Sqrt(float64(out.Shape[4])), Causal: causal}
		a := attentionArrays{q: in[0], k: in[1], v: in[2], out: out, lse: blank(out.Shape[:4]...), dout: dy, dq: grads[0], dk: grads[1], dv: grads[2]}
		a.forward(p)
		a.backward(p, backend.AttentionAccumulate{})
	default:
		t.Fatalf("no such operation: %s", c.Op)
	}
	out.check(t, "out", c.Out.floats(), 0)
	for i, grad := range grads {
		if !grad.Absent() {
			g := c.Grads[fmt.Sprint(i)]
			grad.check(t, fmt.Sprint("gradient ", i), g.floats(), 0)
		}
	}
}

// crossEntropy takes the mean of the device's losses over the rows that count.
func (c *goldenCase) crossEntropy(in, grads []*array, out, dy *array) {
	p := backend.CrossEntropyParams{Ignore: -100}
	p.Smoothing, _ = c.Args["label_smoothing"].(float64)
	rows := in[0].Shape[:1]
	r := rand.New(rand.NewPCG(1, 1))
	loss, lse := newArray(r, out.DType, contiguous, rows...), newArray(r, out.DType, contiguous, rows...)
	d := cpu.Device{}
	d.CrossEntropy(loss.Operand, lse.Operand, in[0].Operand, in[1].Operand, p)
	sum, count := 0.0, 0.0
	for i, v := range loss.values() {
		sum += v
		if in[1].values()[i] != -100 {
			count++
		}
	}
	out.set([]float64{sum / count})
	scale := newArray(r, out.DType, contiguous).set([]float64{dy.values()[0] / count})
	d.CrossEntropyGrad(grads[0].Operand, in[0].Operand, in[1].Operand, lse.Operand, scale.Operand, p)
}
