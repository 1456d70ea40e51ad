package iter

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// visit is one element as a loop or the model comes to it: an offset per
// operand.
type visit [MaxOperands]int

// model lists the visits of all positions in row-major order, index by index.
func model(shape []int, views []View) []visit {
	var visits []visit
	index := make([]int, len(shape))
	n := 1
	for _, extent := range shape {
		n *= extent
	}
	for range n {
		var v visit
		for k := range views {
			v[k] = views[k].Offset
			for d, i := range index {
				v[k] += i * views[k].Strides[d]
			}
		}
		visits = append(visits, v)
		for d := len(shape) - 1; d >= 0; d-- {
			if index[d]++; index[d] < shape[d] {
				break
			}
			index[d] = 0
		}
	}
	return visits
}

// walk lists the visits of a range, run by run, and checks Pos and Step.
func walk(t interface{ Fatalf(string, ...any) }, l *Loop, lo, hi, operands int) []visit {
	var visits []visit
	for r := l.Range(lo, hi); r.Next(); {
		if r.N <= 0 || r.N > l.Inner() || r.Step != l.Step() {
			t.Fatalf("run of %d with step %v; inner is %d with step %v", r.N, r.Step, l.Inner(), l.Step())
		}
		if r.Pos != lo+len(visits) {
			t.Fatalf("run at position %d, want %d", r.Pos, lo+len(visits))
		}
		for i := range r.N {
			var v visit
			for k := range operands {
				v[k] = r.Off[k] + i*r.Step[k]
			}
			visits = append(visits, v)
		}
	}
	return visits
}

// drawLoop makes a shape and operands: dense in any order of dims, broadcast in
// some, or with any strides.
func drawLoop(t *rapid.T) (shape []int, views []View) {
	rank := rapid.IntRange(0, 6).Draw(t, "rank")
	for range rank {
		shape = append(shape, rapid.SampledFrom([]int{0, 1, 1, 2, 2, 3, 3, 4, 5}).Draw(t, "extent"))
	}
	for range rapid.IntRange(1, MaxOperands).Draw(t, "operands") {
		v := View{Strides: make([]int, rank), Offset: rapid.IntRange(0, 9).Draw(t, "offset")}
		stride := rapid.IntRange(1, 3).Draw(t, "unit")
		for _, d := range rapid.Permutation(axes(rank)).Draw(t, "order") {
			switch rapid.IntRange(0, 5).Draw(t, "kind") {
			case 0:
				v.Strides[d] = 0
			case 1:
				v.Strides[d] = rapid.IntRange(0, 40).Draw(t, "stride")
			default:
				v.Strides[d] = stride
				stride *= shape[d]
			}
		}
		views = append(views, v)
	}
	return shape, views
}

func axes(rank int) []int {
	all := make([]int, rank)
	for d := range all {
		all[d] = d
	}
	return all
}

func TestLogicalOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape, views := drawLoop(t)
		l := New(Logical, shape, views...)
		want := model(shape, views)
		if got := walk(t, &l, 0, l.Len(), len(views)); !slices.Equal(got, want) {
			t.Fatalf("shape %v, views %v: got %v, want %v", shape, views, got, want)
		}
	})
}

// TestRange checks that a range is that part of the whole, in both orders.
func TestRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape, views := drawLoop(t)
		l := New(Order(rapid.IntRange(0, 1).Draw(t, "order")), shape, views...)
		all := walk(t, &l, 0, l.Len(), len(views))
		hi := rapid.IntRange(0, l.Len()).Draw(t, "hi")
		lo := rapid.IntRange(0, hi).Draw(t, "lo")
		if got := walk(t, &l, lo, hi, len(views)); !slices.Equal(got, all[lo:hi]) {
			t.Fatalf("shape %v, views %v, [%d, %d): got %v, want %v", shape, views, lo, hi, got, all[lo:hi])
		}
	})
}

// TestAnyOrder checks that each position comes once, that the first operand's
// offsets rise where its elements lie apart, and that no two neighbouring dims
// could have been one.
func TestAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape, views := drawLoop(t)
		l := New(AnyOrder, shape, views...)
		got, want := walk(t, &l, 0, l.Len(), len(views)), model(shape, views)
		sortVisits(got)
		sortVisits(want)
		if !slices.Equal(got, want) {
			t.Fatalf("shape %v, views %v: got %v, want %v", shape, views, got, want)
		}
		for d := 1; d < l.Rank(); d++ {
			outer, inner := l.Strides(d-1), l.Strides(d)
			if outer[0] < inner[0] {
				t.Fatalf("shape %v, views %v: dim %d has stride %d around %d", shape, views, d-1, outer[0], inner[0])
			}
			if scaled(&outer, &inner, l.Extent(d)) {
				t.Fatalf("shape %v, views %v: dims %d and %d are one", shape, views, d-1, d)
			}
		}
	})
}

func sortVisits(v []visit) {
	slices.SortFunc(v, func(a, b visit) int { return slices.Compare(a[:], b[:]) })
}

func TestCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape, views := drawLoop(t)
		l := New(AnyOrder, shape, views...)
		if l.Rank() > 1 && rapid.Bool().Draw(t, "turn") {
			l.ToInner(rapid.IntRange(0, l.Rank()-1).Draw(t, "dim"), rapid.IntRange(0, 1).Draw(t, "depth"))
		}
		outer, inner := l.Cut(rapid.IntRange(0, 7).Draw(t, "n"))
		var got []visit
		for _, o := range walk(t, &outer, 0, outer.Len(), len(views)) {
			for _, i := range walk(t, &inner, 0, inner.Len(), len(views)) {
				for k := range i {
					i[k] += o[k]
				}
				got = append(got, i)
			}
		}
		if want := walk(t, &l, 0, l.Len(), len(views)); !slices.Equal(got, want) {
			t.Fatalf("shape %v, views %v: got %v, want %v", shape, views, got, want)
		}
	})
}

func TestToInner(t *testing.T) {
	l := New(Logical, []int{2, 3, 5, 7}, View{Strides: []int{900, 200, 30, 4}})
	l.ToInner(0, 1)
	var extents []int
	for d := range l.Rank() {
		extents = append(extents, l.Extent(d))
	}
	if want := []int{3, 5, 2, 7}; !slices.Equal(extents, want) {
		t.Errorf("extents %v, want %v", extents, want)
	}
}

func TestCoalescing(t *testing.T) {
	dense := []int{60, 20, 5, 1}
	for _, tt := range []struct {
		name    string
		order   Order
		shape   []int
		strides [][]int
		rank    int
		inner   int
	}{
		{"0-d", Logical, nil, [][]int{{}, {}}, 1, 1},
		{"size 1", AnyOrder, []int{1, 1}, [][]int{{0, 77}}, 1, 1},
		{"dense", Logical, []int{2, 3, 4, 5}, [][]int{dense, dense}, 1, 120},
		{"size-1 dims between", Logical, []int{2, 1, 60}, [][]int{{60, 999, 1}}, 1, 120},
		{"broadcast scalar", Logical, []int{2, 3, 4, 5}, [][]int{dense, {0, 0, 0, 0}}, 1, 120},
		{"broadcast row", Logical, []int{6, 4, 5}, [][]int{{20, 5, 1}, {0, 5, 1}}, 2, 20},
		{"permuted alike", AnyOrder, []int{4, 2, 3}, [][]int{{1, 12, 4}, {1, 12, 4}}, 1, 24},
		{"permuted alike, in order", Logical, []int{4, 2, 3}, [][]int{{1, 12, 4}, {1, 12, 4}}, 2, 6},
		{"transposed", AnyOrder, []int{4, 6}, [][]int{{6, 1}, {1, 4}}, 2, 6},
		{"empty", AnyOrder, []int{4, 0}, [][]int{{6, 1}}, 0, 0},
	} {
		var views []View
		for _, s := range tt.strides {
			views = append(views, View{Strides: s})
		}
		l := New(tt.order, tt.shape, views...)
		if l.Rank() != tt.rank || l.Inner() != tt.inner {
			t.Errorf("%s: rank %d, inner %d; want %d, %d", tt.name, l.Rank(), l.Inner(), tt.rank, tt.inner)
		}
	}
}

// TestEmpty checks that a zero extent gives no runs, however wild the offset.
func TestEmpty(t *testing.T) {
	l := New(Logical, []int{3, 0, 5}, View{Strides: []int{math.MaxInt / 8, 7, math.MaxInt / 4}, Offset: math.MaxInt / 2})
	if r := l.All(); r.Next() || l.Len() != 0 {
		t.Errorf("a run of %d in a loop of %d", r.N, l.Len())
	}
	outer, inner := l.Cut(1)
	if outer.Len() != 0 || inner.Len() != 0 {
		t.Errorf("parts have %d and %d positions", outer.Len(), inner.Len())
	}
}

func TestAllocatesNothing(t *testing.T) {
	shape, x, y := []int{3, 1, 4, 5}, []int{20, 0, 5, 1}, []int{1, 0, 3, 12}
	sum := 0
	n := testing.AllocsPerRun(100, func() {
		l := New(AnyOrder, shape, View{Strides: x}, View{Strides: y, Offset: 2})
		for r := l.Range(7, 50); r.Next(); {
			sum += r.Off[1]
		}
	})
	if n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

func BenchmarkNew(b *testing.B) {
	shape, x := []int{8, 64, 256}, []int{64 * 256, 256, 1}
	for b.Loop() {
		l := New(AnyOrder, shape, View{Strides: x}, View{Strides: x})
		if l.Rank() != 1 {
			b.Fatal("not coalesced")
		}
	}
}

func BenchmarkNext(b *testing.B) {
	shape, x, y := []int{1000, 3}, []int{3, 1}, []int{1, 1000}
	l := New(Logical, shape, View{Strides: x}, View{Strides: y})
	for b.Loop() {
		for r := l.All(); r.Next(); {
		}
	}
}
