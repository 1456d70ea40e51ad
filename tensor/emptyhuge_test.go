package tensor

import (
	"testing"
	"time"
)

// TestEmptyBesideHuge runs operations on tensors without elements whose other
// extents are enormous: there is nothing to do, and so nothing may walk them.
func TestEmptyBesideHuge(t *testing.T) {
	const huge = 1 << 60
	tall, wide := Empty(Float32, huge, 0), Empty(Float32, 0, huge)
	none := Empty(Int64, 0)
	row := Zeros(Float32, 1).Expand(huge)
	for name, f := range map[string]func(){
		"softmax of no rows":         func() { SoftmaxInto(wide, wide, 0) },
		"softmax of empty rows":      func() { SoftmaxInto(tall, tall, 1) },
		"softmax gradient":           func() { SoftmaxGradInto(wide, wide, wide, 0) },
		"log-softmax gradient":       func() { LogSoftmaxGradInto(tall, tall, tall, 1) },
		"triangle, tall":             func() { TrilInto(tall, tall, 0) },
		"triangle, wide":             func() { TriuInto(wide, wide, 0) },
		"rotary":                     func() { RotaryInto(tall, tall, tall, tall, RotaryHalf, false) },
		"embedding":                  func() { EmbeddingInto(wide, wide, none) },
		"embedding gradient":         func() { EmbeddingGradInto(wide, none, wide) },
		"cumulative sum":             func() { CumSumInto(wide, wide, 0) },
		"index select":               func() { IndexSelectInto(wide, wide, 0, none) },
		"index add":                  func() { IndexAddInto(wide, wide, 0, none, wide) },
		"concatenation":              func() { CatInto(wide, 0, wide, wide) },
		"element-wise":               func() { AddInto(tall, tall, tall) },
		"copy":                       func() { tall.CopyFrom(wide.T()) },
		"norm of rows without width": func() { RMSNormGradInto(tall, nil, tall, nil, row, tall, NormAccumulate{}) },
		"sum to":                     func() { SumToInto(Empty(Float32, 0), tall) },
	} {
		done := make(chan struct{})
		go func() {
			defer close(done)
			Catch(f) // a refusal is as good as nothing done
		}()
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			t.Errorf("%s walks a tensor without elements", name)
		}
	}
}
