package nn

import (
	"fmt"
	"math"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/internal/cpu"
	"github.com/stria-ml/stria/tensor"
)

// builder makes the parameters of a layer and keeps the first error.
type builder struct {
	layer string
	dtype tensor.DType
	err   error
}

// size checks an extent from a config.
func (b *builder) size(field string, n int) {
	if n < 1 {
		b.failf("%s is %d, want at least 1", field, n)
	}
}

// share checks a probability from a config.
func (b *builder) share(field string, p float64) {
	if !(p >= 0 && p <= 1) {
		b.failf("%s is %v, want 0 to 1", field, p)
	}
}

// positive checks a number from a config.
func (b *builder) positive(field string, x float64) {
	if !(x > 0) || math.IsInf(x, 0) {
		b.failf("%s is %v, want a finite number above 0", field, x)
	}
}

func (b *builder) failf(format string, args ...any) {
	if b.err == nil {
		b.err = fmt.Errorf("nn: %s: "+format, append([]any{b.layer}, args...)...)
	}
}

// zeros returns a parameter of zeros, or nil after an error.
func (b *builder) zeros(shape ...int) *autograd.Param {
	count := 1
	for _, n := range shape {
		if b.err == nil && n > 0 && count > math.MaxInt/16/n {
			b.failf("a parameter of shape %v is too large to count", shape)
		}
		count *= n
	}
	if b.err != nil {
		return nil
	}
	if err := cpu.CheckAlloc(count * b.dtype.Size()); err != nil {
		b.failf("a parameter of shape %v: %w", shape, err)
		return nil
	}
	// Go's own zeros cost nothing until they are touched, which matters where
	// weights from a file are to take their place.
	switch b.dtype {
	case tensor.Float32:
		return autograd.NewParam(tensor.Wrap(make([]float32, count), shape...))
	case tensor.Float64:
		return autograd.NewParam(tensor.Wrap(make([]float64, count), shape...))
	}
	b.failf("DType is %v, want float32 or float64", b.dtype)
	return nil
}

// ones returns a parameter of ones, or nil after an error.
func (b *builder) ones(shape ...int) *autograd.Param {
	p := b.zeros(shape...)
	if p != nil {
		p.Value.Fill(1)
	}
	return p
}
