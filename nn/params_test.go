package nn_test

import (
	"reflect"
	"testing"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

// inner and outer have a field of every kind that Params meets.
type inner struct {
	Weight *autograd.Param
	Absent *autograd.Param
}

type Embedded struct {
	Scale autograd.Param
}

type outer struct {
	Embedded
	First     inner `name:"model.first"`
	MLPNorm   *nn.RMSNorm
	Layers    []*inner `name:"layers"`
	Pair      [2]inner
	Any       nn.Layer `name:"any"`
	Nothing   nn.Layer
	Hidden    *inner `name:"-"`
	secret    *inner
	Number    int
	Table     *tensor.Tensor
	Tied      *autograd.Param
	FC1       *nn.Linear
	Flattened *inner `name:""`
}

func weight(n int) *autograd.Param { return autograd.NewParam(tensor.Zeros(tensor.Float32, n)) }

func newOuter() *outer {
	o := &outer{
		First: inner{Weight: weight(1)}, MLPNorm: must(nn.NewRMSNorm(nn.NormConfig{Width: 2, Eps: 1})),
		Layers: []*inner{{Weight: weight(3)}, nil, {Weight: weight(4)}},
		Pair:   [2]inner{{}, {Weight: weight(5)}},
		Any:    must(nn.NewLayerNorm(nn.NormConfig{Width: 6, Eps: 1, Bias: true})),
		Hidden: &inner{Weight: weight(7)}, secret: &inner{Weight: weight(8)},
		Table: tensor.Zeros(tensor.Float32, 9), FC1: must(nn.NewLinear(nn.LinearConfig{In: 1, Out: 10})),
		Flattened: &inner{Weight: weight(11)},
	}
	o.Scale.Value = tensor.Zeros(tensor.Float32, 12)
	o.Tied = o.First.Weight
	return o
}

func TestParamNames(t *testing.T) {
	want := []string{
		"scale", "model.first.weight", "mlp_norm.weight", "layers.0.weight", "layers.2.weight", "pair.1.weight",
		"any.weight", "any.bias", "fc1.weight", "weight",
	}
	o := newOuter()
	for range 2 {
		var names []string
		for name, p := range nn.Params(o) {
			if p == nil {
				t.Fatalf("%s is nil", name)
			}
			names = append(names, name)
		}
		if !reflect.DeepEqual(names, want) {
			t.Errorf("names %v, want %v", names, want)
		}
	}
	if got := nn.Count(o); got != 12+1+2+3+4+5+6+6+10+11 {
		t.Errorf("Count is %d", got)
	}
	for name := range nn.Params(o) {
		if name == "layers.0.weight" {
			break // must not panic
		}
	}
	for name := range nn.Params((*outer)(nil)) {
		t.Errorf("a nil model has %s", name)
	}
}

func TestZeroGrad(t *testing.T) {
	l := must(nn.NewLinear(nn.LinearConfig{In: 2, Out: 3, Bias: true}))
	for _, p := range nn.Params(l) {
		p.Grad = tensor.ZerosLike(p.Value)
	}
	nn.ZeroGrad(l)
	for name, p := range nn.Params(l) {
		if p.Grad != nil {
			t.Errorf("%s has a gradient", name)
		}
	}
}

// TestInitDependsOnNames: a parameter's numbers are the same whatever else the
// model has, and others under another name or seed.
func TestInitDependsOnNames(t *testing.T) {
	type small struct{ A *nn.Linear }
	type large struct{ Z, A, B *nn.Linear }
	linear := func() *nn.Linear { return must(nn.NewLinear(nn.LinearConfig{In: 3, Out: 4})) }
	normal := func(string, *autograd.Param) nn.Initializer { return nn.Normal(1) }
	one, other, many := small{linear()}, small{linear()}, large{linear(), linear(), linear()}
	stream := tensor.NewStream(1)
	nn.Init(one, stream, normal)
	nn.Init(many, stream, normal)
	nn.Init(other, tensor.NewStream(2), normal)
	values := func(l *nn.Linear) []float32 { return tensor.Data[float32](l.Weight.Value) }
	if !reflect.DeepEqual(values(one.A), values(many.A)) {
		t.Error("a.weight depends on the rest of the model")
	}
	if reflect.DeepEqual(values(many.A), values(many.B)) || reflect.DeepEqual(values(one.A), values(other.A)) {
		t.Error("another name or seed gives the same numbers")
	}
	if stream.State().Counter != 0 {
		t.Error("Init moved the stream on")
	}
}

// TestInitializers compares the spread of many draws with the formula's.
func TestInitializers(t *testing.T) {
	for _, row := range []struct {
		name string
		fill nn.Initializer
		std  float64
	}{
		{"normal", nn.Normal(0.3), 0.3},
		{"uniform", nn.Uniform(0.3), 0.3 / 1.7320508},
		{"Xavier normal", nn.XavierNormal(2), 2 * 0.1},          // sqrt(2/(150+50)) = 0.1
		{"Xavier uniform", nn.XavierUniform(1), 0.1},            // the same, from a uniform distribution
		{"Kaiming normal", nn.KaimingNormal(1.4142136), 0.2},    // sqrt(2/50) = 0.2
		{"Kaiming uniform", nn.KaimingUniform(1), 0.1414213562}, // 1/sqrt(50)
	} {
		w := tensor.Zeros(tensor.Float64, 150, 50)
		row.fill(w, tensor.NewStream(3))
		mean, variance := tensor.Item[float64](w.Mean()), tensor.Item[float64](w.Var())
		if mean > 0.05*row.std || mean < -0.05*row.std {
			t.Errorf("%s: mean %v", row.name, mean)
		}
		if ratio := variance / (row.std * row.std); ratio < 0.94 || ratio > 1.06 {
			t.Errorf("%s: variance %v, want %v", row.name, variance, row.std*row.std)
		}
	}
	w := tensor.Zeros(tensor.Float32, 2, 3, 4, 4) // fan in 48, as a convolution's
	nn.KaimingUniform(1)(w, tensor.NewStream(1))
	if largest := tensor.Item[float32](w.Abs().Max()); largest > 0.25 || largest < 0.2 { // sqrt(3/48) = 0.25
		t.Errorf("with more dims, the largest is %v, want just below 0.25", largest)
	}
	nn.Constant(2)(w, nil)
	if tensor.Item[float32](w.Min()) != 2 {
		t.Error("Constant does not fill")
	}
}

func TestDropout(t *testing.T) {
	g := autograd.NewGraph()
	defer g.Close()
	x := g.Const(tensor.Ones(tensor.Float64, 1000))
	drop := nn.Dropout{P: 0.25}
	if y := drop.Forward(&nn.Context{Graph: g, Random: tensor.NewStream(1)}, x); y != x {
		t.Error("evaluation drops")
	}
	if y := (nn.Dropout{}).Forward(&nn.Context{Graph: g, Train: true}, x); y != x {
		t.Error("P = 0 drops")
	}
	c := &nn.Context{Graph: g, Train: true, Random: tensor.NewStream(1)}
	first, second := tensor.Data[float64](drop.Forward(c, x).Value()), tensor.Data[float64](drop.Forward(c, x).Value())
	kept := 0
	for _, v := range first {
		switch v {
		case 0:
		case 1 / 0.75:
			kept++
		default:
			t.Fatalf("element %v, want 0 or 4/3", v)
		}
	}
	if kept < 700 || kept > 800 {
		t.Errorf("%d of 1000 kept, want about 750", kept)
	}
	if reflect.DeepEqual(first, second) {
		t.Error("two draws are the same")
	}
}

func TestToDevice(t *testing.T) {
	l := must(nn.NewLinear(nn.LinearConfig{In: 2, Out: 3}))
	l.Weight.Grad = tensor.ZerosLike(l.Weight.Value)
	nn.ToDevice(l, tensor.CPU)
	if l.Weight.Grad != nil || l.Weight.Value.Device() != tensor.CPU {
		t.Error("ToDevice keeps a gradient, or loses the value")
	}
}
