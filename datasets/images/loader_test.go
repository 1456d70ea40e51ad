package images

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stria-ml/stria/internal/seeded"
	"pgregory.net/rapid"
)

// plainLevels leaves pixel values as they are, in units of 255.
func plainLevels(channels int) Normalization {
	return Normalization{Mean: make([]float32, channels), Std: slices.Repeat([]float32{1}, channels)}
}

func newLoader(t interface{ Fatal(...any) }, s Source, config LoaderConfig) *Loader {
	l, err := NewLoader(s, config)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// batch is a copy of what a loader gave.
type batch struct {
	pixels []float32
	labels []int64
}

func next(t interface{ Fatal(...any) }, l *Loader) batch {
	b := batch{make([]float32, l.BatchSize()*l.Source().Shape().Elements()), make([]int64, l.BatchSize())}
	if err := l.Next(b.pixels, b.labels); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b batch) equal(c batch) bool {
	return slices.Equal(b.pixels, c.pixels) && slices.Equal(b.labels, c.labels)
}

// TestEpochs sees every image once an epoch, over the ends of epochs, with its
// own label.
func TestEpochs(t *testing.T) {
	const n, size = 10, 4
	s := newSet(t, Shape{1, 1, 1}, n) // image i is of value i and label i%3
	l := newLoader(t, s, LoaderConfig{BatchSize: size, Seed: 1, Normalization: plainLevels(1)})
	var seen []int
	for range 15 {
		b := next(t, l)
		for i, v := range b.pixels {
			image := int(math.Round(float64(v) * 255))
			if b.labels[i] != int64(image%3) {
				t.Fatalf("image %d has label %d", image, b.labels[i])
			}
			seen = append(seen, image)
		}
	}
	for e := range 15 * size / n {
		epoch := slices.Sorted(slices.Values(seen[e*n : (e+1)*n]))
		for i, v := range epoch {
			if i != v {
				t.Fatalf("epoch %d holds %v", e, epoch)
			}
		}
	}
	if slices.Equal(seen[:n], seen[n:2*n]) {
		t.Error("two epochs have the same order")
	}
	if l.Epoch() != 6 || l.Batches() != 15 {
		t.Errorf("epoch %v, %d batches", l.Epoch(), l.Batches())
	}
}

// TestPositions gets each image of a batch from its position alone.
func TestPositions(t *testing.T) {
	shape := Shape{2, 4, 5}
	s := newSet(t, shape, 6)
	a := Augmentation{Crop: 2, Shift: 1, Flip: 0.5, Erase: 0.5}
	norm := Normalization{Mean: []float32{0.25, 0.5}, Std: []float32{0.5, 2}}
	l := newLoader(t, s, LoaderConfig{BatchSize: 4, Seed: 8, Normalization: norm, Augmentation: a})
	order := seeded.NewEpochs(seeded.New(8, forOrder), 6)
	size := shape.Elements()
	pixels, out, want := make([]uint8, size), make([]uint8, size), make([]float32, size)
	for b := range uint64(5) {
		got := next(t, l)
		for i := range uint64(4) {
			position := 4*b + i
			label := s.Example(order.At(position), pixels)
			if err := a.Apply(out, pixels, shape, 8, position); err != nil {
				t.Fatal(err)
			}
			if err := norm.Apply(want, out, 2); err != nil {
				t.Fatal(err)
			}
			if row := got.pixels[int(i)*size:][:size]; !slices.Equal(row, want) || got.labels[i] != int64(label) {
				t.Fatalf("image at position %d is %v, want %v", position, row, want)
			}
		}
	}
}

// TestResumeProperty: a loader restored anywhere, by way of JSON, goes on as if
// nothing had happened, with augmentation on.
func TestResumeProperty(t *testing.T) {
	drawn, err := NewShapes(ShapesConfig{Size: 16, Train: 7, Seed: 2})
	if err != nil {
		t.Fatal(err)
	}
	sources := []Source{newSet(t, Shape{2, 3, 4}, 10), drawn.TrainSource()}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom(sources).Draw(t, "source")
		config := LoaderConfig{
			BatchSize:     rapid.IntRange(1, 9).Draw(t, "batch"),
			Seed:          rapid.Uint64().Draw(t, "seed"),
			Normalization: HalfNormalization(s.Shape().Channels),
			Augmentation:  augmentations(t, s.Shape()),
		}
		whole, resumed := newLoader(t, s, config), newLoader(t, s, config)
		for range rapid.IntRange(0, 9).Draw(t, "before") {
			next(t, whole)
		}
		text, err := json.Marshal(whole.State())
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(0, 9).Draw(t, "astray") {
			next(t, resumed)
		}
		var state LoaderState
		if err := json.Unmarshal(text, &state); err != nil {
			t.Fatal(err)
		}
		if err := resumed.Restore(state); err != nil {
			t.Fatal(err)
		}
		for i := range 4 {
			if !next(t, whole).equal(next(t, resumed)) {
				t.Fatalf("batch %d after the resume differs", i)
			}
		}
	})
}

func TestSeedsDiffer(t *testing.T) {
	s := newSet(t, Shape{1, 1, 1}, 100)
	a := next(t, newLoader(t, s, LoaderConfig{BatchSize: 20, Seed: 1, Normalization: plainLevels(1)}))
	b := next(t, newLoader(t, s, LoaderConfig{BatchSize: 20, Seed: 2, Normalization: plainLevels(1)}))
	if a.equal(b) {
		t.Error("seeds 1 and 2 give the same batch")
	}
}

func TestRestoreRefuses(t *testing.T) {
	s := newSet(t, Shape{1, 2, 2}, 5)
	l := newLoader(t, s, LoaderConfig{BatchSize: 2, Seed: 3, Normalization: plainLevels(1), Augmentation: Augmentation{Shift: 1}})
	next(t, l)
	for field, change := range map[string]func(*LoaderState){
		"dataset":           func(s *LoaderState) { s.Dataset = "another" },
		"seed":              func(s *LoaderState) { s.Seed = 4 },
		"batch size":        func(s *LoaderState) { s.BatchSize = 8 },
		"augmentation":      func(s *LoaderState) { s.Augmentation.Flip = 0.5 },
		"number of batches": func(s *LoaderState) { s.Batches = math.MaxUint64 },
	} {
		state := l.State()
		change(&state)
		if e := wantKind(t, l.Restore(state), ErrState); e.Field != field {
			t.Errorf("%s: %v", field, e)
		}
	}
	state := l.State()
	state.Seed = 4
	if got, want := l.Restore(state).Error(), "images: position of another loader: seed is 4, want 3"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if l.Batches() != 1 {
		t.Errorf("a refused state moved the loader to batch %d", l.Batches())
	}
}

func TestLoaderRefuses(t *testing.T) {
	s := newSet(t, Shape{2, 2, 2}, 5)
	none, err := NewSet("none", Shape{1, 1, 1}, []string{"a"}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	good := LoaderConfig{BatchSize: 2, Normalization: plainLevels(2)}
	for _, row := range []struct {
		name   string
		source Source
		kind   Kind
		change func(*LoaderConfig)
	}{
		{"no source", nil, ErrConfig, func(*LoaderConfig) {}},
		{"no images", none, ErrEmpty, func(c *LoaderConfig) { c.Normalization = plainLevels(1) }},
		{"batch of nothing", s, ErrConfig, func(c *LoaderConfig) { c.BatchSize = 0 }},
		{"negative batch", s, ErrConfig, func(c *LoaderConfig) { c.BatchSize = -3 }},
		{"uncountable batch", s, ErrConfig, func(c *LoaderConfig) { c.BatchSize = math.MaxInt / 4 }},
		{"no normalization", s, ErrConfig, func(c *LoaderConfig) { c.Normalization = Normalization{} }},
		{"normalization of other channels", s, ErrConfig, func(c *LoaderConfig) { c.Normalization = plainLevels(3) }},
		{"augmentation", s, ErrConfig, func(c *LoaderConfig) { c.Augmentation.Crop = 2 }},
	} {
		config := good
		row.change(&config)
		_, err := NewLoader(row.source, config)
		t.Run(row.name, func(t *testing.T) { wantKind(t, err, row.kind) })
	}
	_, err = NewPass(s, PassConfig{BatchSize: 0, Normalization: plainLevels(2)})
	wantKind(t, err, ErrConfig)
	_, err = NewPass(s, PassConfig{BatchSize: 1, Normalization: plainLevels(1)})
	wantKind(t, err, ErrConfig)
}

func TestRoomForBatches(t *testing.T) {
	s := newSet(t, Shape{1, 2, 2}, 5)
	l := newLoader(t, s, LoaderConfig{BatchSize: 2, Normalization: plainLevels(1)})
	p, err := NewPass(s, PassConfig{BatchSize: 2, Normalization: plainLevels(1)})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range [][2]int{{0, 0}, {8, 1}, {7, 2}, {9, 3}} {
		pixels, labels := make([]float32, n[0]), make([]int64, n[1])
		want := fmt.Sprintf("images: invalid option: room for a batch is %d and %d, want 8 values and 2 labels", n[0], n[1])
		if err := l.Next(pixels, labels); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
		if _, err := p.Next(pixels, labels); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if l.Batches() != 0 {
		t.Error("refused slices moved the loader")
	}
}

// everySource returns one source of each kind.
func everySource(t *testing.T) []Source {
	grey, colour := newSet(t, Shape{1, 4, 5}, 9), newSet(t, Shape{3, 5, 4}, 4)
	drawn, err := NewShapes(ShapesConfig{Size: 17, HeldOut: 9})
	if err != nil {
		t.Fatal(err)
	}
	sources := []Source{grey, colour, drawn.TrainSource(), drawn.HeldOutSource()}
	add := func(s Source, err error) {
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, s)
	}
	add(AdaptChannels(grey, 3))
	add(AdaptChannels(colour, 1))
	add(Range(grey, 2, 7))
	train, validation, err := Split(grey, 0.3, 1)
	add(train, err)
	add(validation, err)
	return sources
}

func TestNextDoesNotAllocate(t *testing.T) {
	for _, s := range everySource(t) {
		norm := HalfNormalization(s.Shape().Channels)
		l := newLoader(t, s, LoaderConfig{BatchSize: 3, Normalization: norm, Augmentation: Augmentation{Crop: 2, Shift: 1, Flip: 0.5, Erase: 0.5}})
		p, err := NewPass(s, PassConfig{BatchSize: 3, Normalization: norm})
		if err != nil {
			t.Fatal(err)
		}
		pixels, labels := make([]float32, 3*s.Shape().Elements()), make([]int64, 3)
		n := testing.AllocsPerRun(50, func() {
			if err := l.Next(pixels, labels); err != nil {
				t.Fatal(err)
			}
			if _, err := p.Next(pixels, labels); err != nil {
				t.Fatal(err)
			}
		})
		if n != 0 {
			t.Errorf("%s: Next allocates %v times", s.ID(), n)
		}
	}
}

// TestExamples: an image is written whole, is the same every time, and has one of
// the labels.
func TestExamples(t *testing.T) {
	for _, s := range everySource(t) {
		size := s.Shape().Elements()
		zeros, ones := make([]uint8, size), slices.Repeat([]uint8{255}, size)
		for n := range min(s.Len(), 20) {
			label := s.Example(n, zeros)
			if again := s.Example(n, ones); again != label || label < 0 || label >= len(s.Classes()) {
				t.Errorf("%s: image %d has label %d, and then %d", s.ID(), n, label, again)
			}
			if !slices.Equal(zeros, ones) {
				t.Errorf("%s: image %d is not the same twice", s.ID(), n)
			}
		}
	}
}

func TestIDsDiffer(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range everySource(t) {
		if seen[s.ID()] {
			t.Errorf("two sources are %s", s.ID())
		}
		seen[s.ID()] = true
	}
}

func TestPass(t *testing.T) {
	s := newSet(t, Shape{1, 1, 2}, 5)
	norm := Normalization{Mean: []float32{0}, Std: []float32{1.0 / 255}}
	p, err := NewPass(s, PassConfig{BatchSize: 3, Normalization: norm})
	if err != nil {
		t.Fatal(err)
	}
	if p.Batches() != 2 {
		t.Errorf("%d batches", p.Batches())
	}
	for range 2 {
		for _, want := range []struct {
			rows   int
			pixels []float32
			labels []int64
		}{
			{3, []float32{0, 1, 2, 3, 4, 5}, []int64{0, 1, 2}},
			{2, []float32{6, 7, 8, 9, 0, 0}, []int64{0, 1, IgnoreIndex}},
			{0, []float32{0, 0, 0, 0, 0, 0}, []int64{IgnoreIndex, IgnoreIndex, IgnoreIndex}},
		} {
			pixels, labels := []float32{-1, -1, -1, -1, -1, -1}, []int64{-1, -1, -1}
			rows, err := p.Next(pixels, labels)
			for i, v := range pixels {
				pixels[i] = float32(math.Round(float64(v)*1000) / 1000)
			}
			if err != nil || rows != want.rows || !slices.Equal(pixels, want.pixels) || !slices.Equal(labels, want.labels) {
				t.Errorf("%d rows, %v, %v, %v, want %+v", rows, pixels, labels, err, want)
			}
		}
		p.Reset()
	}
}
