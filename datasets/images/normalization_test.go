package images

import (
	"math"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestApplyByHand(t *testing.T) {
	n := Normalization{Mean: []float32{0.5, 0}, Std: []float32{0.25, 2}}
	got := make([]float32, 4)
	if err := n.Apply(got, []uint8{0, 255, 0, 255}, 2); err != nil {
		t.Fatal(err)
	}
	if want := []float32{-2, 2, 0, 0.5}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	wantKind(t, n.Apply(got, []uint8{1, 2, 3}, 2), ErrConfig)
	wantKind(t, n.Apply(got[:3], []uint8{1, 2, 3}, 2), ErrConfig)
	wantKind(t, n.Apply(got[:3], []uint8{1, 2, 3}, 3), ErrConfig)
}

func TestFixedNormalizations(t *testing.T) {
	for name, channels := range map[string]int{"mnist": 1, "fashion-mnist": 1, "cifar10": 3, "cifar100": 3} {
		n, err := FixedNormalization(name)
		if err != nil || n.Check(channels) != nil {
			t.Errorf("%s: %+v, %v", name, n, err)
		}
		n.Mean[0] = 9
		if again, _ := FixedNormalization(name); again.Mean[0] == 9 {
			t.Errorf("%s: the caller may change the table", name)
		}
	}
	_, err := FixedNormalization("imagenet")
	wantKind(t, err, ErrConfig)
	n := HalfNormalization(2)
	got := make([]float32, 4)
	if err := n.Apply(got, []uint8{0, 255, 255, 0}, 2); err != nil || !slices.Equal(got, []float32{-1, 1, 1, -1}) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestNormalizationCheck(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, n := range []Normalization{
		{}, {Mean: []float32{0}}, {Mean: []float32{0, 0}, Std: []float32{1, 1}},
		{Mean: []float32{0}, Std: []float32{0}}, {Mean: []float32{0}, Std: []float32{-1}}, {Mean: []float32{0}, Std: []float32{nan}},
		{Mean: []float32{nan}, Std: []float32{1}}, {Mean: []float32{inf}, Std: []float32{1}}, {Mean: []float32{1}, Std: []float32{1e-39}}, {Mean: []float32{0}, Std: []float32{inf}},
	} {
		wantKind(t, n.Check(1), ErrConfig)
	}
}

func TestMeasureByHand(t *testing.T) {
	// The first channel is 0 and 255 in turn, the second always 51.
	s, err := NewSet("x", Shape{2, 1, 2}, []string{"a"}, []uint8{0, 255, 51, 51, 255, 0, 51, 51}, []int{0, 0})
	if err != nil {
		t.Fatal(err)
	}
	n, err := MeasureNormalization(s)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(n.Mean, []float32{0.5, 0.2}) || !slices.Equal(n.Std, []float32{0.5, 1}) {
		t.Errorf("%+v", n)
	}
	none, err := NewSet("none", Shape{1, 1, 1}, []string{"a"}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = MeasureNormalization(none)
	wantKind(t, err, ErrEmpty)
}

// TestMeasureProperty compares with two passes in float64, and one goroutine with
// several.
func TestMeasureProperty(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	rapid.Check(t, func(t *rapid.T) {
		shape := shapes(t)
		n := rapid.IntRange(1, 7).Draw(t, "n")
		pixels := rapid.SliceOfN(rapid.Byte(), n*shape.Elements(), n*shape.Elements()).Draw(t, "pixels")
		s, err := NewSet("x", shape, []string{"a"}, pixels, make([]int, n))
		if err != nil {
			t.Fatal(err)
		}
		var results []Normalization
		for _, threads := range []int{1, 3} {
			runtime.GOMAXPROCS(threads)
			m, err := MeasureNormalization(s)
			if err != nil {
				t.Fatal(err)
			}
			results = append(results, m)
		}
		if !slices.Equal(results[0].Mean, results[1].Mean) || !slices.Equal(results[0].Std, results[1].Std) {
			t.Fatalf("%+v by one goroutine, %+v by three", results[0], results[1])
		}
		for c := range shape.Channels {
			mean, std := naive(pixels, shape, c)
			if math.Abs(float64(results[0].Mean[c])-mean) > 1e-7 || math.Abs(float64(results[0].Std[c])-std) > 1e-7 {
				t.Fatalf("channel %d: %v and %v, want %v and %v", c, results[0].Mean[c], results[0].Std[c], mean, std)
			}
		}
	})
}

// naive returns mean and deviation of a channel, 1 where that is 0.
func naive(pixels []uint8, shape Shape, channel int) (mean, std float64) {
	var values []float64
	area := shape.Height * shape.Width
	for i, v := range pixels {
		if i/area%shape.Channels == channel {
			values = append(values, float64(v)/255)
		}
	}
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		std += (v - mean) * (v - mean) / float64(len(values))
	}
	if std = math.Sqrt(std); std < 1e-9 {
		std = 1
	}
	return mean, std
}
