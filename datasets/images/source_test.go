package images

import (
	"math"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

func TestRange(t *testing.T) {
	s := newSet(t, Shape{1, 1, 2}, 6)
	middle, err := Range(s, 2, 5)
	if err != nil {
		t.Fatal(err)
	}
	wantImages(t, middle, []int{2, 0, 1}, []uint8{4, 5}, []uint8{6, 7}, []uint8{8, 9})
	for _, bounds := range [][2]int{{-1, 3}, {0, 7}, {3, 3}, {4, 2}} {
		_, err := Range(s, bounds[0], bounds[1])
		wantKind(t, err, ErrConfig)
	}
	defer func() {
		if recover() == nil {
			t.Error("an image past the range's end was read")
		}
	}()
	middle.Example(3, make([]uint8, 2))
}

// TestSplitProperty: the parts hold every image once, in order, and the same for
// the same seed.
func TestSplitProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 60).Draw(t, "n")
		fraction := rapid.Float64Range(0.001, 0.999).Draw(t, "fraction")
		seed := rapid.Uint64().Draw(t, "seed")
		s, err := NewSet("n", Shape{1, 1, 1}, []string{"a"}, count(0, n), make([]int, n))
		if err != nil {
			t.Fatal(err)
		}
		train, validation, err := Split(s, fraction, seed)
		if err != nil {
			t.Fatal(err)
		}
		if want := min(max(int(fraction*float64(n)+0.5), 1), n-1); validation.Len() != want {
			t.Fatalf("%d of %d images for validation, want %d", validation.Len(), n, want)
		}
		all := append(values(train), values(validation)...)
		if !slices.IsSorted(values(train)) || !slices.IsSorted(values(validation)) {
			t.Fatal("a part is out of order")
		}
		slices.Sort(all)
		if !slices.Equal(all, count(0, n)) {
			t.Fatalf("the parts hold %v", all)
		}
		again, _, err := Split(s, fraction, seed)
		if err != nil || !slices.Equal(values(again), values(train)) || again.ID() != train.ID() {
			t.Fatal("the same seed splits otherwise")
		}
	})
}

// values returns the first value of every image.
func values(s Source) []uint8 {
	all, pixels := make([]uint8, s.Len()), make([]uint8, s.Shape().Elements())
	for n := range all {
		s.Example(n, pixels)
		all[n] = pixels[0]
	}
	return all
}

func TestSplitSeeds(t *testing.T) {
	s := newSet(t, Shape{1, 1, 1}, 100)
	a, _, err := Split(s, 0.5, 1)
	if err != nil {
		t.Fatal(err)
	}
	b, _, err := Split(s, 0.5, 2)
	if err != nil {
		t.Fatal(err)
	}
	if slices.Equal(values(a), values(b)) {
		t.Error("seeds 1 and 2 split alike")
	}
	for _, fraction := range []float64{0, 1, -0.5, 2} {
		_, _, err := Split(s, fraction, 1)
		wantKind(t, err, ErrConfig)
	}
	one, err := Range(s, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = Split(one, 0.5, 1)
	wantKind(t, err, ErrTooSmall)
}

func TestAdaptChannels(t *testing.T) {
	grey := newSet(t, Shape{1, 1, 2}, 2)
	colour, err := AdaptChannels(grey, 3)
	if err != nil {
		t.Fatal(err)
	}
	if colour.Shape() != (Shape{3, 1, 2}) {
		t.Errorf("shape %v", colour.Shape())
	}
	wantImages(t, colour, []int{0, 1}, []uint8{0, 1, 0, 1, 0, 1}, []uint8{2, 3, 2, 3, 2, 3})

	rgb, err := NewSet("rgb", Shape{3, 1, 2}, []string{"a"}, []uint8{0, 255, 1, 255, 0, 255}, []int{0})
	if err != nil {
		t.Fatal(err)
	}
	mean, err := AdaptChannels(rgb, 1)
	if err != nil {
		t.Fatal(err)
	}
	wantImages(t, mean, []int{0}, []uint8{0, 255}) // a third rounds down
	two, err := NewSet("two", Shape{2, 1, 3}, []string{"a"}, []uint8{1, 2, 255, 2, 2, 255}, []int{0})
	if err != nil {
		t.Fatal(err)
	}
	half, err := AdaptChannels(two, 1)
	if err != nil {
		t.Fatal(err)
	}
	wantImages(t, half, []int{0}, []uint8{2, 2, 255}) // a half rounds up

	if same, err := AdaptChannels(rgb, 3); err != nil || same != Source(rgb) {
		t.Errorf("three channels of three: %v, %v", same, err)
	}
	_, err = AdaptChannels(rgb, 2)
	wantKind(t, err, ErrChannels)
	_, err = AdaptChannels(rgb, 0)
	wantKind(t, err, ErrConfig)
	_, err = AdaptChannels(grey, math.MaxInt32)
	wantKind(t, err, ErrTooLarge)
	err = CheckChannels(grey, 3)
	wantKind(t, err, ErrChannels)
	if want := "images: wrong number of channels: number of channels of the images is 1, want 3"; err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if err := CheckChannels(rgb, 3); err != nil {
		t.Error(err)
	}
}

func TestNewSet(t *testing.T) {
	names := []string{"a", "b"}
	for _, row := range []struct {
		name   string
		kind   Kind
		shape  Shape
		names  []string
		pixels int
		labels []int
	}{
		{"too few pixels", ErrCount, Shape{1, 2, 2}, names, 7, []int{0, 1}},
		{"an image too many", ErrCount, Shape{1, 2, 2}, names, 12, []int{0, 1}},
		{"negative label", ErrLabel, Shape{1, 2, 2}, names, 8, []int{0, -1}},
		{"label past the classes", ErrLabel, Shape{1, 2, 2}, names, 8, []int{0, 2}},
		{"no classes", ErrClasses, Shape{1, 2, 2}, nil, 0, nil},
		{"no rows", ErrTooSmall, Shape{1, 0, 2}, names, 8, []int{0, 1}},
		{"negative rows", ErrTooSmall, Shape{1, -2, -2}, names, 8, []int{0, 1}},
		{"overflow", ErrTooLarge, Shape{1 << 21, 1 << 21, 1 << 22}, names, 0, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := NewSet("x", row.shape, row.names, make([]uint8, row.pixels), row.labels)
			wantKind(t, err, row.kind)
		})
	}
	a, b := newSet(t, Shape{1, 2, 2}, 3), newSet(t, Shape{1, 2, 2}, 3)
	if a.ID() != b.ID() || a.Label(2) != 2 {
		t.Errorf("%s and %s, label %d", a.ID(), b.ID(), a.Label(2))
	}
	for name, other := range map[string]*Set{
		"pixels":  must(NewSet("test", Shape{1, 2, 2}, []string{"a", "b", "c"}, count(1, 12), []int{0, 1, 2})),
		"labels":  must(NewSet("test", Shape{1, 2, 2}, []string{"a", "b", "c"}, count(0, 12), []int{0, 1, 1})),
		"classes": must(NewSet("test", Shape{1, 2, 2}, []string{"a", "b", "d"}, count(0, 12), []int{0, 1, 2})),
		"shape":   must(NewSet("test", Shape{1, 1, 4}, []string{"a", "b", "c"}, count(0, 12), []int{0, 1, 2})),
	} {
		if other.ID() == a.ID() {
			t.Errorf("sets of other %s have the same ID", name)
		}
	}
}

// TestSourcesAreShared reads each source from several goroutines at once.
func TestSourcesAreShared(t *testing.T) {
	for _, s := range everySource(t) {
		want := make([][]uint8, min(s.Len(), 8))
		for n := range want {
			want[n] = make([]uint8, s.Shape().Elements())
			s.Example(n, want[n])
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				pixels := make([]uint8, s.Shape().Elements())
				for n := range want {
					s.Example(n, pixels)
					if !slices.Equal(pixels, want[n]) {
						t.Errorf("%s: image %d differs among goroutines", s.ID(), n)
					}
				}
			})
		}
		wg.Wait()
	}
}

func must(s *Set, err error) *Set {
	if err != nil {
		panic(err)
	}
	return s
}
