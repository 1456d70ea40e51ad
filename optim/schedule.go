package optim

import "math"

// Schedule is a learning rate over time.
type Schedule interface {
	// LR returns the learning rate of a step, counted from 0.
	LR(step int64) float64
}

// Constant is a learning rate that stays, after a linear warm-up.
type Constant struct {
	Peak   float64
	Warmup int64 // steps until Peak
}

// LR returns the learning rate of a step.
func (c Constant) LR(step int64) float64 { return c.Peak * warm(step, c.Warmup) }

// Cosine rises linearly to Peak and falls along half a cosine to Floor at step
// Total (Loshchilov and Hutter 2017).
type Cosine struct {
	Peak   float64
	Floor  float64
	Warmup int64 // steps until Peak
	Total  int64 // steps of the whole run
}

// LR returns the learning rate of a step.
func (c Cosine) LR(step int64) float64 {
	switch {
	case step < c.Warmup:
		return c.Peak * warm(step, c.Warmup)
	case step >= c.Total:
		return c.Floor
	}
	passed := float64(step-c.Warmup) / float64(c.Total-c.Warmup)
	return c.Floor + (c.Peak-c.Floor)*(1+math.Cos(math.Pi*passed))/2
}

// warm is the share of the peak that a warm-up has reached: its first step
// already moves.
func warm(step, steps int64) float64 {
	if step >= steps {
		return 1
	}
	return float64(step+1) / float64(steps)
}
