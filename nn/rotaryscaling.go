package nn

import (
	"fmt"
	"math"
)

// RotaryScalingType is a way to stretch rotary frequencies to contexts longer
// than the one that a model was trained on.
type RotaryScalingType uint8

// The ways.
const (
	NoScaling     RotaryScalingType = iota
	LinearScaling                   // all frequencies divided by Factor (Chen et al. 2023, arXiv:2306.15595)
	Llama3Scaling                   // low frequencies divided by Factor, high ones kept (Llama 3.1, arXiv:2407.21783)
)

// String returns Hugging Face's name.
func (t RotaryScalingType) String() string {
	switch t {
	case NoScaling:
		return "default"
	case LinearScaling:
		return "linear"
	case Llama3Scaling:
		return "llama3"
	}
	return fmt.Sprintf("rotary scaling(%d)", uint8(t))
}

// RotaryScaling stretches rotary frequencies; the zero value leaves them.
type RotaryScaling struct {
	Type   RotaryScalingType
	Factor float64 // of LinearScaling and Llama3Scaling

	// Llama3Scaling keeps wavelengths up to OriginalContext/HighFreqFactor, divides
	// the frequencies of those beyond OriginalContext/LowFreqFactor by Factor, and
	// goes from the one to the other between them.
	LowFreqFactor, HighFreqFactor float64
	OriginalContext               int // positions
}

func (s RotaryScaling) check(b *builder) {
	if s.Type > Llama3Scaling {
		b.failf("there is no %v", s.Type)
	}
	if s.Type != NoScaling {
		b.positive("Scaling.Factor", s.Factor)
	}
	if s.Type == Llama3Scaling {
		b.positive("Scaling.LowFreqFactor", s.LowFreqFactor)
		b.positive("Scaling.HighFreqFactor", s.HighFreqFactor)
		b.size("Scaling.OriginalContext", s.OriginalContext)
		if s.HighFreqFactor <= s.LowFreqFactor {
			b.failf("Scaling.HighFreqFactor is %v, want more than LowFreqFactor %v", s.HighFreqFactor, s.LowFreqFactor)
		}
	}
}

// scale returns the scaled frequency f, in radians a position.
func (s RotaryScaling) scale(f float64) float64 {
	switch s.Type {
	case LinearScaling:
		return f / s.Factor
	case Llama3Scaling:
		return s.llama3(f)
	}
	return f
}

// llama3 is apply_scaling of the reference code of Llama 3.1 (models/llama3 in
// meta-llama/llama-models).
func (s RotaryScaling) llama3(f float64) float64 {
	turns := float64(s.OriginalContext) * f / (2 * math.Pi) // in the original context
	switch {
	case turns > s.HighFreqFactor:
		return f
	case turns < s.LowFreqFactor:
		return f / s.Factor
	}
	smooth := (turns - s.LowFreqFactor) / (s.HighFreqFactor - s.LowFreqFactor)
	return (1-smooth)*f/s.Factor + smooth*f
}
