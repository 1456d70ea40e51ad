package optim_test

import (
	"math"
	"testing"

	"github.com/stria-ml/stria/optim"
)

func TestSchedules(t *testing.T) {
	cosine := optim.Cosine{Peak: 8, Floor: 2, Warmup: 4, Total: 12}
	tests := []struct {
		name     string
		schedule optim.Schedule
		step     int64
		want     float64
	}{
		{"the first step moves", cosine, 0, 2},
		{"half of the warm-up", cosine, 1, 4},
		{"end of the warm-up", cosine, 3, 8},
		{"start of the cosine", cosine, 4, 8},
		{"a quarter of the cosine", cosine, 6, 2 + 6*(1+math.Sqrt2/2)/2},
		{"half of the cosine", cosine, 8, 5},
		{"three quarters of the cosine", cosine, 10, 2 + 6*(1-math.Sqrt2/2)/2},
		{"the end", cosine, 12, 2},
		{"past the end", cosine, 1 << 40, 2},
		{"a warm-up past the end", optim.Cosine{Peak: 8, Floor: 2, Warmup: 16, Total: 4}, 7, 4},
		{"no warm-up", optim.Cosine{Peak: 8, Floor: 2, Total: 4}, 0, 8},
		{"constant in its warm-up", optim.Constant{Peak: 3, Warmup: 3}, 1, 2},
		{"constant", optim.Constant{Peak: 3, Warmup: 3}, 1000, 3},
		{"constant without warm-up", optim.Constant{Peak: 3}, 0, 3},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := test.schedule.LR(test.step); math.Abs(got-test.want) > 1e-12 {
				t.Errorf("LR(%d) = %v, want %v", test.step, got, test.want)
			}
		})
	}
}
