package cases

import (
	"math"
	"regexp"
	"testing"
)

func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range All() {
		if seen[c.Name] {
			t.Errorf("two cases are named %s", c.Name)
		}
		seen[c.Name] = true
		if !regexp.MustCompile(`^[A-Z]\w*(/[\w-]+)+$`).MatchString(c.Name) {
			t.Errorf("the name %s is not a group and what follows", c.Name)
		}
		if c.FLOPs < 0 || c.Bytes < 0 || c.FLOPs > 0 && c.Bytes > 0 {
			t.Errorf("%s: %g operations, %g bytes: want one limit", c.Name, c.FLOPs, c.Bytes)
		}
	}
}

// TestSmallCasesRun runs those that take a moment; preparing runs the step.
func TestSmallCasesRun(t *testing.T) {
	for _, c := range All() {
		if c.FLOPs > 1e8 || c.Bytes > 3e7 || c.Model {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			step, done := c.Prepare()
			defer done()
			step()
		})
	}
}

// TestTransposedOperands: views of transposed memory, with the shapes of the
// product.
func TestTransposedOperands(t *testing.T) {
	for l, want := range map[layout][2]bool{layoutNN: {true, true}, layoutNT: {true, false}, layoutTN: {false, true}} {
		a, b := l.operands(3, 5, 7, 2)
		if a.Size(0) != 2 || a.Size(1) != 3 || a.Size(2) != 5 || b.Size(0) != 2 || b.Size(1) != 5 || b.Size(2) != 7 {
			t.Errorf("%s: shapes %v and %v", l, a.Shape(), b.Shape())
		}
		if a.IsContiguous() != want[0] || b.IsContiguous() != want[1] {
			t.Errorf("%s: contiguous: %t and %t", l, a.IsContiguous(), b.IsContiguous())
		}
	}
}

// TestStepFLOPs adds the products of a step up one by one.
func TestStepFLOPs(t *testing.T) {
	const B, T, D, H, K, d, hidden, layers, vocabulary = 16, 128, 256, 8, 2, 32, 704, 4, 256
	product := func(m, k, n int) float64 { return 2 * float64(m) * float64(k) * float64(n) }
	layer := product(B*T, D, H*d) + 2*product(B*T, D, K*d) + product(B*T, H*d, D) + 2*product(B*T, D, hidden) + product(B*T, hidden, D)
	for t := range T { // position t sees t+1
		layer += B * H * (product(1, d, t+1) + product(1, t+1, d))
	}
	want := 3 * (layers*layer + product(B*T, D, vocabulary))
	if got := gqaToy().stepFLOPs(); math.Abs(got/want-1) > 1e-12 {
		t.Errorf("%g, want %g", got, want)
	}
}

// TestVisionFLOPs adds the products of a step up one by one.
func TestVisionFLOPs(t *testing.T) {
	const B, T, D, H, d, hidden, layers, patch, classes = 64, 65, 192, 3, 64, 768, 6, 48, 10
	product := func(m, k, n int) float64 { return 2 * float64(m) * float64(k) * float64(n) }
	layer := 4*product(B*T, D, D) + 2*product(B*T, D, hidden) + B*H*(product(T, d, T)+product(T, T, d))
	want := 3*(layers*layer+product(B, D, classes)) + 2*product(B*(T-1), patch, D)
	if got := visionFLOPs(vitToy(), B); math.Abs(got/want-1) > 1e-12 {
		t.Errorf("%g, want %g", got, want)
	}
	if got := must(vitToy().Parameters()); got != 2_693_578 {
		t.Errorf("%d parameters, want 2693578", got)
	}
}

func TestParameterCounts(t *testing.T) {
	for want, m := range map[int]languageModel{2_951_424: gqaToy(), 26_747_392: gqaSmall()} {
		if got := must(m.config.Parameters()); got != want {
			t.Errorf("%s has %d parameters, want %d", m.name, got, want)
		}
	}
}
