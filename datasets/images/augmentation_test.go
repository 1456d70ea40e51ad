package images

import (
	"math"
	"slices"
	"testing"

	"github.com/stria-ml/stria/internal/philox"
	"github.com/stria-ml/stria/internal/seeded"
	"pgregory.net/rapid"
)

// changed applies the choices of an augmentation to an image.
func changed(shape Shape, pixels []uint8, crop, shift [2]int, flipped bool) []uint8 {
	rows, columns := make([]int, shape.Height), make([]int, shape.Width)
	trace(rows, crop[0], shift[0], false)
	trace(columns, crop[1], shift[1], flipped)
	out := slices.Repeat([]uint8{77}, len(pixels))
	gather(out, pixels, shape, rows, columns)
	return out
}

func TestChangesByHand(t *testing.T) {
	shape := Shape{1, 3, 3}
	pixels := []uint8{
		1, 2, 3,
		4, 5, 6,
		7, 8, 9,
	}
	for _, row := range []struct {
		name        string
		crop, shift [2]int // down, right
		flipped     bool
		want        []uint8
	}{
		{name: "nothing", want: pixels},
		{name: "flip", flipped: true, want: []uint8{
			3, 2, 1,
			6, 5, 4,
			9, 8, 7}},
		{name: "shift right", shift: [2]int{0, 1}, want: []uint8{
			0, 1, 2,
			0, 4, 5,
			0, 7, 8}},
		{name: "shift up and left", shift: [2]int{-1, -2}, want: []uint8{
			6, 0, 0,
			9, 0, 0,
			0, 0, 0}},
		{name: "shift down", shift: [2]int{2, 0}, want: []uint8{
			0, 0, 0,
			0, 0, 0,
			1, 2, 3}},
		{name: "crop one further right", crop: [2]int{0, 1}, want: []uint8{
			2, 3, 2,
			5, 6, 5,
			8, 9, 8}},
		{name: "crop two further up, one left", crop: [2]int{-2, -1}, want: []uint8{
			8, 7, 8,
			5, 4, 5,
			2, 1, 2}},
		{name: "crop right, then shift right, then flip", crop: [2]int{0, 1}, shift: [2]int{0, 1}, flipped: true, want: []uint8{
			3, 2, 0,
			6, 5, 0,
			9, 8, 0}},
	} {
		if got := changed(shape, pixels, row.crop, row.shift, row.flipped); !slices.Equal(got, row.want) {
			t.Errorf("%s: %v, want %v", row.name, got, row.want)
		}
	}
}

// TestChangesOfChannels has sides and channels all different.
func TestChangesOfChannels(t *testing.T) {
	got := changed(Shape{2, 1, 3}, []uint8{1, 2, 3, 4, 5, 6}, [2]int{0, 0}, [2]int{0, 1}, true)
	if want := []uint8{2, 1, 0, 5, 4, 0}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestReflect(t *testing.T) {
	for n, want := range map[int][]int{
		1: {0, 0, 0, 0, 0, 0, 0, 0, 0},
		2: {0, 1, 0, 1, 0, 1, 0, 1, 0},
		3: {0, 1, 2, 1, 0, 1, 2, 1, 0},
		4: {2, 3, 2, 1, 0, 1, 2, 3, 2},
	} {
		for i, line := range want {
			if got := reflect(i-4, n); got != line {
				t.Errorf("line %d of %d is %d, want %d", i-4, n, got, line)
			}
		}
	}
}

// TestOffsets sees that each is drawn about as often as the others.
func TestOffsets(t *testing.T) {
	a := newAugmenter(Augmentation{Shift: 2}, Shape{1, 8, 8}, 1)
	const draws = 5000
	var counts [5]int
	for n := range uint64(draws) {
		counts[a.offset(a.shift, 2, n, 0)+2]++
	}
	for i, n := range counts {
		if n < draws/5-150 || n > draws/5+150 { // 5 standard deviations
			t.Errorf("offset %d was drawn %d times of %d", i-2, n, draws)
		}
	}
}

func TestFlipChance(t *testing.T) {
	pixels, out := []uint8{1, 2}, make([]uint8, 2)
	for _, chance := range []float64{0, 0.25, 1} {
		const draws = 4000
		flips := 0
		for n := range uint64(draws) {
			if err := (Augmentation{Flip: chance}).Apply(out, pixels, Shape{1, 1, 2}, 3, n); err != nil {
				t.Fatal(err)
			}
			if out[0] == 2 {
				flips++
			}
		}
		if d := float64(flips) - draws*chance; d < -137 || d > 137 || chance == 1 && d != 0 { // 5 standard deviations
			t.Errorf("%d flips of %d at %v", flips, draws, chance)
		}
	}
}

// TestErase sees one rectangle of other values, the same in each channel, whose
// sizes keep to the published bounds.
func TestErase(t *testing.T) {
	shape := Shape{3, 24, 40}
	area := shape.Height * shape.Width
	pixels := slices.Repeat([]uint8{200}, shape.Elements())
	out := make([]uint8, len(pixels))
	erased, changedValues := 0, 0
	var edges [4]int // rectangles that reach them
	for n := range uint64(300) {
		if err := (Augmentation{Erase: 1}).Apply(out, pixels, shape, 5, n); err != nil {
			t.Fatal(err)
		}
		r, ok := chooseRectangle(shape, seeded.New(5, forErase), n)
		if !ok {
			continue
		}
		erased++
		for i, reached := range []bool{r.top == 0, r.left == 0, r.top+r.height == shape.Height, r.left+r.width == shape.Width} {
			if reached {
				edges[i]++
			}
		}
		part, ratio := float64(r.height*r.width)/float64(area), float64(r.height)/float64(r.width)
		if part < 0.015 || part > 0.36 || ratio < 0.25 || ratio > 4 { // sides are rounded
			t.Fatalf("rectangle of %d rows and %d columns", r.height, r.width)
		}
		for i, v := range out {
			y, x := i%area/shape.Width, i%shape.Width
			inside := y >= r.top && y < r.top+r.height && x >= r.left && x < r.left+r.width
			if !inside && v != 200 {
				t.Fatalf("value %d at %d, %d outside of %+v", v, y, x, r)
			}
			if inside && v != 200 {
				changedValues++
			}
		}
	}
	if erased < 290 {
		t.Errorf("%d of 300 images were erased in", erased)
	}
	if slices.Min(edges[:]) < 2 {
		t.Errorf("%v rectangles reach the top, left, bottom and right", edges)
	}
	if changedValues < 1000 {
		t.Errorf("%d values changed", changedValues)
	}
}

// TestFillByHand writes the generator's bytes row by row, channel by channel.
func TestFillByHand(t *testing.T) {
	shape := Shape{2, 4, 5}
	a := newAugmenter(Augmentation{Erase: 1}, shape, 9)
	a.fill(rectangle{1, 2, 2, 3}, 6)
	var want []byte // 12 of them, of one block
	for _, w := range philox.Block(uint64(a.noise), [2]uint64{6, 0}) {
		for range 4 {
			want = append(want, byte(w))
			w >>= 8
		}
	}
	at := 0
	for c := range 2 {
		for y := range 4 {
			for x := range 5 {
				got, inside := a.out[(c*4+y)*5+x], y >= 1 && y < 3 && x >= 2
				switch {
				case inside && got != want[at]:
					t.Errorf("value %d at %d, %d, %d, want %d", got, c, y, x, want[at])
				case !inside && got != 0:
					t.Errorf("value %d at %d, %d, %d outside", got, c, y, x)
				}
				if inside {
					at++
				}
			}
		}
	}
}

// augmentations draws any augmentation that fits a shape.
func augmentations(t *rapid.T, shape Shape) Augmentation {
	most := min(shape.Height, shape.Width) - 1
	chance := rapid.Float64Range(0, 1)
	return Augmentation{
		Crop:  rapid.IntRange(0, most).Draw(t, "crop"),
		Shift: rapid.IntRange(0, most).Draw(t, "shift"),
		Flip:  chance.Draw(t, "flip"),
		Erase: chance.Draw(t, "erase"),
	}
}

func shapes(t *rapid.T) Shape {
	side := rapid.IntRange(1, 9)
	return Shape{rapid.IntRange(1, 4).Draw(t, "channels"), side.Draw(t, "height"), side.Draw(t, "width")}
}

// TestAugmentationProperty: what comes out depends on the position alone, reads
// and writes all channels alike, and holds only values of the image where nothing
// is erased, or zeros.
func TestAugmentationProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := shapes(t)
		a := augmentations(t, shape)
		seed, position := rapid.Uint64().Draw(t, "seed"), rapid.Uint64().Draw(t, "position")
		area := shape.Height * shape.Width
		pixels := make([]uint8, shape.Elements())
		for i := range pixels {
			pixels[i] = uint8(i%area + 1) // all channels alike
		}
		before := slices.Clone(pixels)
		first, again := make([]uint8, len(pixels)), slices.Repeat([]uint8{99}, len(pixels))
		busy := newAugmenter(a, shape, seed)
		busy.apply(pixels, position+1) // leaves its traces
		copy(first, busy.apply(pixels, position))
		if err := a.Apply(again, pixels, shape, seed, position); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(first, again) {
			t.Fatalf("%v, and then %v", first, again)
		}
		if !slices.Equal(pixels, before) {
			t.Fatal("the image was changed")
		}
		a.Erase = 0
		if err := a.Apply(again, pixels, shape, seed, position); err != nil {
			t.Fatal(err)
		}
		for i, v := range again {
			if v != again[i%area] || int(v) > area {
				t.Fatalf("value %d in channel %d, %d in the first", v, i/area, again[i%area])
			}
			if v == 0 && a.Shift == 0 {
				t.Fatalf("a hole at %d in %v", i, again)
			}
		}
	})
}

// TestAugmentationsAreApart: switched on together, each makes the choices that it
// makes alone, and they follow each other as documented.
func TestAugmentationsAreApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := shapes(t)
		shape.Channels = 1
		a := augmentations(t, shape)
		a.Erase = 0
		seed, position := rapid.Uint64().Draw(t, "seed"), rapid.Uint64().Draw(t, "position")
		// from is where each value comes from, counted from 1, or 0.
		from := func(a Augmentation) []uint8 {
			out := make([]uint8, shape.Elements())
			if err := a.Apply(out, count(1, len(out)), shape, seed, position); err != nil {
				t.Fatal(err)
			}
			return out
		}
		crop, shift, flip := from(Augmentation{Crop: a.Crop}), from(Augmentation{Shift: a.Shift}), from(Augmentation{Flip: a.Flip})
		for i, got := range from(a) {
			want := shift[flip[i]-1]
			if want != 0 {
				want = crop[want-1]
			}
			if got != want {
				t.Fatalf("value %d comes from %d, want %d", i, got, want)
			}
		}
	})
}

// TestCropAndShiftAreIndependent: from one stream, they would cancel each other in
// the middle.
func TestCropAndShiftAreIndependent(t *testing.T) {
	out := make([]uint8, 81)
	rows, columns := map[uint8]bool{}, map[uint8]bool{}
	for n := range uint64(30) {
		if err := (Augmentation{Crop: 3, Shift: 3}).Apply(out, count(0, 81), Shape{1, 9, 9}, 1, n); err != nil {
			t.Fatal(err)
		}
		rows[out[40]/9], columns[out[40]%9] = true, true
	}
	if len(rows) < 5 || len(columns) < 5 {
		t.Errorf("the middle comes from %d rows and %d columns", len(rows), len(columns))
	}
}

func TestNothingToErase(t *testing.T) {
	// Half of one pixel rounds to one or to none; either way nothing is out of bounds.
	out := make([]uint8, 1)
	for n := range uint64(100) {
		if err := (Augmentation{Erase: 1}).Apply(out, []uint8{3}, Shape{1, 1, 1}, 1, n); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAugmentationRefuses(t *testing.T) {
	nan := math.NaN()
	for _, a := range []Augmentation{
		{Crop: -1}, {Crop: 4}, {Shift: -1}, {Shift: 4}, {Flip: -0.1}, {Flip: 1.5}, {Flip: nan}, {Erase: 2}, {Erase: nan},
	} {
		wantKind(t, a.Check(Shape{3, 4, 6}), ErrConfig)
		wantKind(t, a.Apply(make([]uint8, 72), make([]uint8, 72), Shape{3, 4, 6}, 1, 1), ErrConfig)
	}
	err := Augmentation{Shift: 4}.Check(Shape{3, 4, 6})
	if want := "images: invalid option: shift is 4, want 0 to 3 pixels in images of 3x4x6"; err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	wantKind(t, Augmentation{}.Apply(make([]uint8, 3), make([]uint8, 4), Shape{1, 2, 2}, 1, 1), ErrConfig)
	wantKind(t, Augmentation{}.Check(Shape{0, 2, 2}), ErrTooSmall)
	if err := (Augmentation{Crop: 3, Shift: 3, Flip: 1, Erase: 1}).Check(Shape{3, 4, 6}); err != nil {
		t.Error(err)
	}
}
