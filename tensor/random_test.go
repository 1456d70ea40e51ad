package tensor_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/stria-ml/stria/internal/parallel"
	"github.com/stria-ml/stria/tensor"
)

// The numbers of key 42, from an implementation of Philox4x32-10 in Python's
// integers and, for the normal ones, statistics.NormalDist.
func TestRandomKnownAnswers(t *testing.T) {
	wantData(t, tensor.RandU(tensor.Float32, tensor.NewStream(42), 2, 2),
		float32(10283760)/(1<<24), float32(16571169)/(1<<24), float32(13855746)/(1<<24), float32(12240644)/(1<<24))
	wantData(t, tensor.RandU(tensor.Float64, tensor.NewStream(42), 4),
		4220652138765662.0/(1<<53), 2945925043428196.0/(1<<53), 5929579126091136.0/(1<<53), 6040586783512800.0/(1<<53))
	wantData(t, tensor.RandInt(tensor.NewStream(42), 10, 3, 4), int64(3), 4, 7, 3, 2, 0, 1, 1, 4, 4, 6, 4)
	wantData(t, tensor.RandInt(tensor.NewStream(42), 6700417e9, 3), int64(2283914520146791), 3044103981229675, 5183339972505972)
	if got, want := tensor.NewStream(42).Perm(10), []int{5, 7, 2, 0, 9, 1, 4, 6, 3, 8}; !slices.Equal(got, want) {
		t.Errorf("permutation is %v, want %v", got, want)
	}
	if got := tensor.NewStream(42).Split("dropout").State().Key; got != 0x6d45ff8f3aa66a6a {
		t.Errorf("the split's key is %#x", got)
	}
	normal := []float64{-0.07882346885253179, -0.4480366278979277, 0.4078702358053096, 0.4416806772623011,
		0.9905423401492294, -0.5432818813252271, 0.6530484832227031, -0.23247225872687013}
	for i, v := range tensor.Data[float64](tensor.RandN(tensor.Float64, tensor.NewStream(42), 8)) {
		if math.Abs(v-normal[i]) > 4e-16*math.Abs(normal[i]) {
			t.Errorf("normal number %d is %v, want %v", i, v, normal[i])
		}
	}
}

// The exact bits, which no platform and no later version may change: a sum over
// the bit patterns.
func TestNormalBits(t *testing.T) {
	sum := uint64(0)
	for _, v := range tensor.Data[float64](tensor.RandN(tensor.Float64, tensor.NewStream(7), 100000)) {
		sum = sum*31 + math.Float64bits(v)
	}
	const want = uint64(0xce6cb1931ba8259b)
	if sum != want {
		t.Errorf("sum over the bits is %#x, want %#x", sum, want)
	}
}

func TestRandomTensorsTakeOneBlockPerElement(t *testing.T) {
	s := tensor.NewStream(1)
	for i, draw := range []func(){
		func() { tensor.RandU(tensor.Float32, s, 2, 3) },
		func() { tensor.RandN(tensor.BFloat16, s, 6) },
		func() { tensor.RandInt(s, 9, 3, 2) },
		func() { s.Perm(6) },
		func() { s.Take(6) },
		func() {
			s.Uint64()
			s.Float64()
			s.NormFloat64()
			s.IntN(3)
			tensor.RandU(tensor.Float64, s)
			tensor.RandN(tensor.Float32, s)
		},
		func() { tensor.RandU(tensor.Float32, s, 3, 0); s.Perm(0); s.Take(6) },
	} {
		draw()
		if got := s.State().Counter; got != uint64(6*i+6) {
			t.Errorf("after draw %d the counter is %d, want %d", i, got, 6*i+6)
		}
	}
}

func TestScalarDrawsEqualTensorDraws(t *testing.T) {
	const n = 100
	s := tensor.NewStream(3)
	uniform, normal, integers := tensor.Data[float64](tensor.RandU(tensor.Float64, tensor.NewStream(3), n)),
		tensor.Data[float64](tensor.RandN(tensor.Float64, tensor.NewStream(3), n)),
		tensor.Data[int64](tensor.RandInt(tensor.NewStream(3), 1000, n))
	for i := range n {
		state := s.State()
		u := s.Float64()
		s.SetState(state)
		z := s.NormFloat64()
		s.SetState(state)
		k := s.IntN(1000)
		if u != uniform[i] || z != normal[i] || int64(k) != integers[i] {
			t.Fatalf("draw %d is %v, %v, %v, want %v, %v, %v", i, u, z, k, uniform[i], normal[i], integers[i])
		}
	}
	var _ rand.Source = s
}

func TestStreamStateSurvivesJSON(t *testing.T) {
	s := tensor.NewStream(math.MaxUint64 - 1)
	s.SetState(tensor.StreamState{Key: math.MaxUint64 - 1, Counter: 1<<63 + 1})
	data, err := json.Marshal(s.State())
	if err != nil {
		t.Fatal(err)
	}
	var state tensor.StreamState
	if err := json.Unmarshal(data, &state); err != nil {
		t.Fatal(err)
	}
	again := tensor.NewStream(0)
	again.SetState(state)
	if a, b := s.Uint64(), again.Uint64(); a != b || s.State() != again.State() {
		t.Errorf("the stream went on with %d, its restored twin with %d", a, b)
	}
}

func TestSplitsAreUnrelated(t *testing.T) {
	s := tensor.NewStream(5)
	a := s.Split("a")
	s.Take(1000)
	if again := s.Split("a"); again.State() != a.State() {
		t.Error("a split depends on what was drawn before")
	}
	keys := map[uint64]bool{5: true}
	for _, split := range []*tensor.Stream{a, s.Split("b"), s.Split(""), a.Split("a"), tensor.NewStream(6).Split("a")} {
		if key := split.State().Key; keys[key] {
			t.Errorf("two streams have key %#x", key)
		} else {
			keys[key] = true
		}
	}
}

// The bits depend neither on the number of threads nor on the shape.
func TestRandomBitsAtAnyThreadCount(t *testing.T) {
	defer parallel.SetThreads(0)
	draw := func() []any {
		return []any{
			tensor.Data[float32](tensor.RandU(tensor.Float32, tensor.NewStream(9), 20001)),
			tensor.Data[float32](tensor.RandN(tensor.Float32, tensor.NewStream(9), 59, 339)),
			tensor.Data[int64](tensor.RandInt(tensor.NewStream(9), 77, 3, 6667)),
		}
	}
	parallel.SetThreads(1)
	want := draw()
	for _, threads := range []int{2, 8} {
		parallel.SetThreads(threads)
		if !reflect.DeepEqual(draw(), want) {
			t.Errorf("%d threads give other numbers than one", threads)
		}
	}
	flat := tensor.Data[float32](tensor.RandN(tensor.Float32, tensor.NewStream(9), 20001))
	if !slices.Equal(flat, want[1].([]float32)) {
		t.Error("the shape changes the numbers")
	}
}

func TestRandNRoundsToEachDType(t *testing.T) {
	wide := tensor.RandN(tensor.Float64, tensor.NewStream(2), 50)
	for _, dtype := range []tensor.DType{tensor.Float32, tensor.Float16, tensor.BFloat16} {
		got := tensor.RandN(dtype, tensor.NewStream(2), 50).To(tensor.Float64)
		if want := wide.To(dtype).To(tensor.Float64); !slices.Equal(tensor.Data[float64](got), tensor.Data[float64](want)) {
			t.Errorf("%v numbers are not the rounded float64 ones", dtype)
		}
	}
}

// moments returns mean, variance, skewness and kurtosis.
func moments(data []float64) (m [4]float64) {
	n := float64(len(data))
	for _, v := range data {
		m[0] += v / n
	}
	for _, v := range data {
		d := v - m[0]
		m[1] += d * d / n
		m[2] += d * d * d / n
		m[3] += d * d * d * d / n
	}
	m[2] /= math.Pow(m[1], 1.5)
	m[3] /= m[1] * m[1]
	return m
}

func TestDistributions(t *testing.T) {
	const n = 200000
	for _, c := range []struct {
		name string
		draw *tensor.Tensor
		want [4]float64
	}{
		{"uniform float32", tensor.RandU(tensor.Float32, tensor.NewStream(11), n), [4]float64{0.5, 1. / 12, 0, 1.8}},
		{"uniform float64", tensor.RandU(tensor.Float64, tensor.NewStream(12), n), [4]float64{0.5, 1. / 12, 0, 1.8}},
		{"normal", tensor.RandN(tensor.Float32, tensor.NewStream(13), n), [4]float64{0, 1, 0, 3}},
		{"integers below 5", tensor.RandInt(tensor.NewStream(14), 5, n), [4]float64{2, 2, 0, 1.7}},
		{"integers below 2", tensor.RandInt(tensor.NewStream(14), 2, n), [4]float64{0.5, 0.25, 0, 1}},
	} {
		data := tensor.Data[float64](c.draw.To(tensor.Float64))
		for i, got := range moments(data) {
			if math.Abs(got-c.want[i]) > 0.06 {
				t.Errorf("%s: moment %d is %v, want %v", c.name, i+1, got, c.want[i])
			}
		}
		lag := 0.0
		for i := range n - 1 {
			lag += (data[i] - c.want[0]) * (data[i+1] - c.want[0]) / (c.want[1] * n)
		}
		if math.Abs(lag) > 0.01 { // more than four standard deviations, 1/sqrt(n) each
			t.Errorf("%s: neighbours correlate by %v", c.name, lag)
		}
	}
}

// A chi-squared test of 64 cells, which exceeds 130 once in a million times.
func TestUniformCells(t *testing.T) {
	const n, cells = 64000, 64
	cell := map[string]func(i int) int{}
	u := tensor.Data[float32](tensor.RandU(tensor.Float32, tensor.NewStream(21), n))
	cell["uniform"] = func(i int) int { return int(u[i] * cells) }
	k := tensor.Data[int64](tensor.RandInt(tensor.NewStream(22), cells, n))
	cell["integers"] = func(i int) int { return int(k[i]) }
	z := tensor.Data[float64](tensor.RandN(tensor.Float64, tensor.NewStream(23), n))
	cell["normal"] = func(i int) int { return int(math.Erfc(-z[i]/math.Sqrt2) / 2 * cells) }
	perm := tensor.NewStream(24).Perm(n)
	cell["where a permutation's neighbours go"] = func(i int) int { return (perm[i] - perm[(i+1)%n] + n) % n * cells / n }
	for name, at := range cell {
		var seen [cells]float64
		for i := range n {
			seen[at(i)]++
		}
		chi := 0.0
		for _, count := range seen {
			chi += (count - n/cells) * (count - n/cells) / (n / cells)
		}
		if chi > 130 || chi < 20 {
			t.Errorf("%s: chi squared is %v over 63 degrees of freedom", name, chi)
		}
	}
}

func TestPermIsAPermutation(t *testing.T) {
	for _, n := range []int{0, 1, 2, 1000} {
		perm := tensor.NewStream(uint64(n)).Perm(n)
		slices.Sort(perm)
		for i, v := range perm {
			if i != v {
				t.Fatalf("a permutation of %d lacks %d", n, i)
			}
		}
	}
	counts := map[[3]int]int{}
	s := tensor.NewStream(1)
	for range 6000 {
		counts[[3]int(s.Perm(3))]++
	}
	for order, count := range counts {
		if len(counts) != 6 || count < 850 || count > 1150 { // five standard deviations
			t.Errorf("order %v came %d times of 6000", order, count)
		}
	}
}

func TestRandomMisuse(t *testing.T) {
	s := tensor.NewStream(1)
	misuse(t, tensor.DTypeMismatch, func() { tensor.RandU(tensor.Int64, s, 2) })
	misuse(t, tensor.DTypeMismatch, func() { tensor.RandU(tensor.BFloat16, s, 2) })
	misuse(t, tensor.DTypeMismatch, func() { tensor.RandN(tensor.Bool, s, 2) })
	misuse(t, tensor.InvalidArgument, func() { tensor.RandN(tensor.DType(99), s, 2) })
	misuse(t, tensor.InvalidArgument, func() { tensor.RandInt(s, 0, 2) })
	misuse(t, tensor.InvalidArgument, func() { tensor.RandInt(s, -3, 2) })
	misuse(t, tensor.InvalidArgument, func() { s.IntN(0) })
	misuse(t, tensor.InvalidArgument, func() { s.Perm(-1) })
	misuse(t, tensor.InvalidArgument, func() { s.Take(-1) })
	misuse(t, tensor.ElementCount, func() { tensor.RandU(tensor.Float32, s, -1) })
	if s.State().Counter != 0 {
		t.Errorf("refused draws took %d blocks", s.State().Counter)
	}
}
