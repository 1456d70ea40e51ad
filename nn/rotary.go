package nn

import (
	"math"
	"sync"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/tensor"
)

// RotaryLayout says which two elements of a head a rotation pairs.
type RotaryLayout = tensor.RotaryLayout

// The layouts.
const (
	// RotaryHalf pairs element i with i + d/2 (Hugging Face).
	RotaryHalf = tensor.RotaryHalf
	// RotaryInterleaved pairs element 2i with 2i + 1 (Meta, llama2.c).
	RotaryInterleaved = tensor.RotaryInterleaved
)

// Rotary turns the pairs of elements of queries and keys by angles that grow
// with the position (Su et al. 2021, arXiv:2104.09864). Its tables of cosines
// and sines grow as longer sequences come, and may be used from several
// goroutines: layers and models share one Rotary.
type Rotary struct {
	config      RotaryConfig
	frequencies []float64 // (d/2)

	mu     sync.Mutex
	tables []*rotaryTable
}

// RotaryConfig describes a Rotary.
type RotaryConfig struct {
	HeadWidth int     // d, even
	Base      float64 // theta of the frequencies theta^(-2i/d); Llama's is 10000
	Layout    RotaryLayout
	Scaling   RotaryScaling
}

// Check returns an error for a head width that is odd or below 2, a base that
// is not above 0, and an incomplete scaling.
func (config RotaryConfig) Check() error {
	b := builder{layer: "rotary"}
	if config.HeadWidth < 2 || config.HeadWidth%2 != 0 {
		b.failf("HeadWidth is %d, want an even number of at least 2, since rotation pairs elements", config.HeadWidth)
	}
	b.positive("Base", config.Base)
	if config.Layout > RotaryInterleaved {
		b.failf("there is no %v", config.Layout)
	}
	config.Scaling.check(&b)
	return b.err
}

// NewRotary returns a Rotary. What Check refuses is an error.
func NewRotary(config RotaryConfig) (*Rotary, error) {
	if err := config.Check(); err != nil {
		return nil, err
	}
	return &Rotary{config: config, frequencies: config.frequencies()}, nil
}

// Config returns what the Rotary was made from.
func (r *Rotary) Config() RotaryConfig { return r.config }

// Frequencies returns by how much each pair turns from one position to the
// next, in radians.
func (r *Rotary) Frequencies() []float64 { return append([]float64(nil), r.frequencies...) }

// frequencies computes theta^(-2i/d), scaled.
func (config RotaryConfig) frequencies() []float64 {
	list := make([]float64, config.HeadWidth/2)
	for i := range list {
		f := math.Pow(config.Base, -float64(2*i)/float64(config.HeadWidth))
		list[i] = config.Scaling.scale(f)
	}
	return list
}

// Forward turns x (..., T, d), whose positions begin at offset.
func (r *Rotary) Forward(c *Context, x *autograd.Var, offset int) *autograd.Var {
	cos, sin := r.Tables(c.Device(), x.DType(), offset, x.Size(-2))
	return autograd.Rotary(x, cos, sin, r.config.Layout)
}

// Tables returns the cosines and sines of the angles at count positions from
// offset on, both (count, d/2). They are for reading.
func (r *Rotary) Tables(device tensor.Device, dtype tensor.DType, offset, count int) (cos, sin *tensor.Tensor) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.table(device, dtype).rows(r.frequencies, offset, count)
}

// table returns the table for a device and dtype.
func (r *Rotary) table(device tensor.Device, dtype tensor.DType) *rotaryTable {
	for _, t := range r.tables {
		if t.device == device && t.dtype == dtype {
			return t
		}
	}
	t := &rotaryTable{device: device, dtype: dtype}
	r.tables = append(r.tables, t)
	return t
}
