package tensor

import (
	"testing"

	"pgregory.net/rapid"
)

// TestDisjointNeverErrs compares disjoint with a list of all elements: it may
// call distant tensors overlapping, but never overlapping ones disjoint.
func TestDisjointNeverErrs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for range 20 {
			p, q := drawPlace(t, drawShape(t), false), drawPlace(t, drawShape(t), false)
			q.offset += rapid.IntRange(0, 12).Draw(t, "shift")
			buffer := Zeros(Float32, max(p.end, q.end+12)+1)
			a, b := p.view(buffer), q.view(buffer)
			of := map[int]bool{}
			for i := range a.size {
				of[a.StorageOffset(unrank(a.shape(), i)...)] = true
			}
			for i := range b.size {
				if of[b.StorageOffset(unrank(b.shape(), i)...)] && disjoint(a, b) {
					t.Fatalf("%v and %v share an element", p, q)
				}
			}
		}
	})
}

// TestDisjoint has the layouts that must count as disjoint, and some that must
// not.
func TestDisjoint(t *testing.T) {
	x := zeros(4, 6)
	tests := []struct {
		name string
		a, b *Tensor
		want bool
	}{
		{"storages", x, zeros(4, 6), true},
		{"rows", x.Narrow(0, 0, 2), x.Narrow(0, 2, 2), true},
		{"overlapping rows", x.Narrow(0, 0, 2), x.Narrow(0, 1, 2), false},
		{"columns", x.Narrow(1, 0, 2), x.Narrow(1, 2, 4), true},
		{"columns of the transposed", x.T().Narrow(0, 4, 2), x.Narrow(1, 0, 4), true},
		{"overlapping columns", x.Narrow(1, 0, 3), x.Narrow(1, 2, 4), false},
		{"every second", x.Slice(1, 0, 6, 2), x.Slice(1, 1, 6, 2), true},
		{"itself", x, x, false},
		{"nothing", x, x.Narrow(0, 0, 0), true},
	}
	for _, test := range tests {
		if disjoint(test.a, test.b) != test.want || disjoint(test.b, test.a) != test.want {
			t.Errorf("%s: not %v", test.name, test.want)
		}
	}
}
