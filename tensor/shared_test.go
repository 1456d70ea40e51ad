package tensor

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/stria-ml/stria/internal/parallel"
)

// TestReadersShareTensors lets goroutines read the same tensors in every way,
// while the number of threads changes and observers of copies come and go.
func TestReadersShareTensors(t *testing.T) {
	defer parallel.SetThreads(0)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	s := NewStream(1)
	a, b := RandN(Float32, s, 70, 90), RandN(Float32, s, 90, 80)
	read := func() []float32 {
		product := a.MatMul(b).Softmax(0).Sum(1)
		view := a.T().Narrow(0, 3, 40).Unflatten(0, 8, 5).Reshape(-1)
		loan := a.Borrow()
		x, err := loan.Get(1, 2)
		if err != nil {
			t.Error(err)
		}
		return append(append(Data[float32](product), Data[float32](view)...), float32(x), float32(len(fmt.Sprintf("%+v", a))))
	}
	want := read()
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 10 {
				switch g {
				case 0:
					parallel.SetThreads(i % 5)
				case 1:
					runtime.GOMAXPROCS(1 + i%4)
				case 2:
					stop := OnCopy(func(CopyEvent) {})
					defer stop()
				}
				if got := read(); !slices.Equal(got, want) {
					t.Errorf("goroutine %d read other values", g)
				}
			}
		})
	}
	wg.Wait()
}

// TestForbiddenCopiesConcurrently forbids and allows copies while others make
// them: each succeeds whole or is refused with CopyForbidden.
func TestForbiddenCopiesConcurrently(t *testing.T) {
	x := Arange(Float32, 0, 600, 1).View(20, 30).T()
	want := Data[float32](x)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for range 100 {
				var y *Tensor
				err := Catch(func() { y = x.Contiguous() })
				switch {
				case err == nil && !slices.Equal(Data[float32](y), want):
					t.Error("a copy has other values")
				case err != nil && err.(*Error).Kind != CopyForbidden:
					t.Error(err)
				}
			}
		})
		wg.Go(func() {
			for range 100 {
				ForbidCopies()()
			}
		})
	}
	wg.Wait()
	x.Contiguous() // no forbiddance is left
}

// TestDestinationsThatWrapOneSlice checks that two destinations are not taken
// for different memory because two Wraps made them.
func TestDestinationsThatWrapOneSlice(t *testing.T) {
	data := make([]float32, 12)
	p := AdamWParams{LR: 0.1, Step: 1}
	grad := Ones(Float32, 4)
	wantKind(t, InternalOverlap, func() { AdamWInto(Wrap(data[:4]), Wrap(data[3:7]), Wrap(data[8:]), grad, p) })
	AdamWInto(Wrap(data[:4]), Wrap(data[4:8]), Wrap(data[8:]), grad, p)
	wantKind(t, InternalOverlap, func() {
		SwiGLUGradInto(Wrap(data[:4]), Wrap(data[2:6]), grad, grad, grad, false, false)
	})
}

// TestMappedMemoryOverlaps checks that what lies in mapped memory is read before
// the same memory is written through a Wrap of it.
func TestMappedMemoryOverlaps(t *testing.T) {
	data := []float32{1, 2, 3, 4}
	mapped, err := FromMapped(bytesOf(data[:3]), nil, Float32, "", 3)
	if err != nil {
		t.Fatal(err)
	}
	wantKind(t, ReadOnly, func() { mapped.Zero() }) // also without a reason
	AddInto(Wrap(data[1:]), mapped, Ones(Float32, 3))
	if !slices.Equal(data, []float32{1, 2, 3, 4}) {
		t.Errorf("1 added to its left neighbour gave %v", data)
	}
}

// TestAttentionOffsets moves queries far behind the keys.
func TestAttentionOffsets(t *testing.T) {
	s := NewStream(1)
	q, k, v := RandN(Float32, s, 1, 2, 3, 2, 4), RandN(Float32, s, 1, 2, 5, 4), RandN(Float32, s, 1, 2, 5, 4)
	run := func(p AttentionParams) []float32 {
		p.Scale = 0.5
		out, lse := ZerosLike(q), Zeros(Float32, 1, 2, 3, 2)
		AttentionInto(out, lse, q, k, v, p)
		return Data[float32](out)
	}
	all := run(AttentionParams{})
	for _, offset := range []int{4, 1000, math.MaxInt - 1, math.MaxInt} {
		if got := run(AttentionParams{Causal: true, QueryOffset: offset}); !slices.Equal(got, all) {
			t.Errorf("offset %d hides keys", offset)
		}
		if offset < 10 {
			if got := run(AttentionParams{Causal: true, QueryOffset: offset, Window: math.MaxInt}); !slices.Equal(got, all) {
				t.Errorf("offset %d with an endless window hides keys", offset)
			}
			continue
		}
		if got := run(AttentionParams{QueryOffset: offset, Window: 3}); slices.Max(got) != 0 || slices.Min(got) != 0 {
			t.Errorf("offset %d sees keys outside of its window", offset)
		}
	}
}

// TestAttentionOfNothing checks that queries without keys give zeros, whatever
// the values that they do not see.
func TestAttentionOfNothing(t *testing.T) {
	for _, keys := range []int{0, 3} {
		q, k := Ones(Float32, 1, 1, 2, 2, 4), Ones(Float32, 1, 1, keys, 4)
		v := Full(Float32, math.Inf(1), 1, 1, keys, 4)
		out, lse := Ones(Float32, 1, 1, 2, 2, 4), Zeros(Float32, 1, 1, 2, 2)
		AttentionInto(out, lse, q, k, v, AttentionParams{Scale: 1, QueryOffset: 10, Window: 2})
		if got := Data[float32](out); slices.Max(got) != 0 || slices.Min(got) != 0 {
			t.Errorf("%d keys: out %v", keys, got)
		}
		if got := Item[float32](lse.Max()); !math.IsInf(float64(got), -1) {
			t.Errorf("%d keys: log-sum-exp %v", keys, got)
		}
	}
}
