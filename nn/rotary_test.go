package nn_test

import (
	"math"
	"sync"
	"testing"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

// llama3ByWavelength is Llama 3.1's scaling as Hugging Face writes it, by
// wavelengths.
func llama3ByWavelength(f float64, s nn.RotaryScaling) float64 {
	wavelength, old := 2*math.Pi/f, float64(s.OriginalContext)
	switch {
	case wavelength < old/s.HighFreqFactor:
		return f
	case wavelength > old/s.LowFreqFactor:
		return f / s.Factor
	}
	smooth := (old/wavelength - s.LowFreqFactor) / (s.HighFreqFactor - s.LowFreqFactor)
	return (1-smooth)*f/s.Factor + smooth*f
}

func TestRotaryFrequencies(t *testing.T) {
	llama31 := nn.RotaryScaling{Type: nn.Llama3Scaling, Factor: 8, LowFreqFactor: 1, HighFreqFactor: 4, OriginalContext: 8192}
	for _, row := range []struct {
		name   string
		config nn.RotaryConfig
		want   func(f float64) float64
	}{
		{"plain", nn.RotaryConfig{HeadWidth: 128, Base: 1e4}, func(f float64) float64 { return f }},
		{"linear", nn.RotaryConfig{HeadWidth: 64, Base: 1e4, Scaling: nn.RotaryScaling{Type: nn.LinearScaling, Factor: 4}},
			func(f float64) float64 { return f / 4 }},
		{"llama3", nn.RotaryConfig{HeadWidth: 128, Base: 5e5, Scaling: llama31},
			func(f float64) float64 { return llama3ByWavelength(f, llama31) }},
	} {
		got := must(nn.NewRotary(row.config)).Frequencies()
		for i, f := range got {
			want := row.want(1 / math.Pow(row.config.Base, 2*float64(i)/float64(row.config.HeadWidth)))
			if math.Abs(f-want) > 1e-14*want {
				t.Errorf("%s: frequency %d is %v, want %v", row.name, i, f, want)
			}
		}
		if len(got) != row.config.HeadWidth/2 || got[0] != row.want(1) {
			t.Errorf("%s: %d frequencies from %v on, want %d from %v on", row.name, len(got), got[0], row.config.HeadWidth/2, row.want(1))
		}
	}
}

// TestRotaryTables asks for rows at several positions, in two dtypes, before
// and after the tables grow.
func TestRotaryTables(t *testing.T) {
	r := must(nn.NewRotary(nn.RotaryConfig{HeadWidth: 6, Base: 50}))
	for _, span := range [][2]int{{0, 3}, {60, 9}, {1000, 1}, {5, 0}, {0, 3}} {
		for _, dtype := range []tensor.DType{tensor.Float64, tensor.Float32} {
			cos, sin := r.Tables(tensor.CPU, dtype, span[0], span[1])
			if cos.DType() != dtype || cos.Size(0) != span[1] || sin.Size(1) != 3 {
				t.Fatalf("rows %v: %v of shape %v", span, cos.DType(), cos.Shape())
			}
			c, s := tensor.Data[float64](cos.To(tensor.Float64)), tensor.Data[float64](sin.To(tensor.Float64))
			for i := range c {
				angle := float64(span[0]+i/3) * math.Pow(50, -float64(2*(i%3))/6)
				if math.Abs(c[i]-math.Cos(angle)) > 1e-7 || math.Abs(s[i]-math.Sin(angle)) > 1e-7 {
					t.Fatalf("position %d, pair %d: %v and %v", span[0]+i/3, i%3, c[i], s[i])
				}
			}
		}
	}
}

// TestRotaryConcurrently grows one Rotary's tables from several inference
// graphs at once.
func TestRotaryConcurrently(t *testing.T) {
	r := newRotary(t, 4, nn.RotaryHalf)
	x := tensor.RandN(tensor.Float32, tensor.NewStream(1), 2, 3, 4)
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			g := autograd.NewGraph(autograd.Inference())
			defer g.Close()
			for offset := worker; offset < 600; offset += 7 {
				g.Reset()
				r.Forward(&nn.Context{Graph: g}, g.Const(x), offset)
			}
		})
	}
	wg.Wait()
}

// TestRotaryIsRelative: scores of rotated queries and keys depend on how far
// apart they are, not on where.
func TestRotaryIsRelative(t *testing.T) {
	for _, layout := range []nn.RotaryLayout{nn.RotaryHalf, nn.RotaryInterleaved} {
		r := newRotary(t, 6, layout)
		g := autograd.NewGraph(autograd.Inference())
		c := &nn.Context{Graph: g}
		s := tensor.NewStream(2)
		q, k := g.Const(tensor.RandN(tensor.Float64, s, 1, 6)), g.Const(tensor.RandN(tensor.Float64, s, 1, 6))
		score := func(at, to int) []float64 {
			return tensor.Data[float64](r.Forward(c, q, at).MatMul(r.Forward(c, k, to).MT()).Value())
		}
		near, far := score(9, 2), score(107, 100)
		if math.Abs(near[0]-far[0]) > 1e-9 {
			t.Errorf("%v: 7 apart scores %v near and %v far away", layout, near[0], far[0])
		}
		if other := score(9, 3); math.Abs(near[0]-other[0]) < 1e-6 {
			t.Errorf("%v: 6 apart scores the same as 7 apart", layout)
		}
		g.Close()
	}
}
