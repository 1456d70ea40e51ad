package images

import (
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"testing"
)

func newShapes(t testing.TB, config ShapesConfig) *Shapes {
	t.Helper()
	s, err := NewShapes(config)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestFiguresByHand gives the distances from a few points.
func TestFiguresByHand(t *testing.T) {
	for _, row := range []struct {
		name   string
		figure figure
		at     vector
		want   float64
	}{
		{"circle's centre", circle, vector{0, 0}, -0.8},
		{"outside the circle", circle, vector{0.6, 0.8}, 0.2},
		{"square's centre", square, vector{0, 0}, -0.7},
		{"beside the square", square, vector{-1, 0.1}, 0.3},
		{"in the square's corner", square, vector{0.6, -0.65}, -0.05},
		{"triangle's centre", triangle, vector{0, 0}, -0.5},
		{"triangle's upper corner", triangle, vector{0, 1}, 0},
		{"below the triangle", triangle, vector{0.2, -0.75}, 0.25},
		{"in an arm of the cross", cross, vector{0, 0.8}, -0.1},
		{"between the cross's arms", cross, vector{0.55, 0.65}, 0.2},
	} {
		if got := row.figure(row.at); math.Abs(got-row.want) > 1e-12 {
			t.Errorf("%s: %v, want %v", row.name, got, row.want)
		}
	}
}

// TestFiguresLieWithinTheCircle, so that none is cut off by much at its margin.
func TestFiguresLieWithinTheCircle(t *testing.T) {
	for i, f := range figures {
		area := 0
		const n = 200
		for y := -n; y <= n; y++ {
			for x := -n; x <= n; x++ {
				p := vector{1.2 * float64(x) / n, 1.2 * float64(y) / n}
				if f(p) >= 0 {
					continue
				}
				area++
				if p.length() > 1.001 {
					t.Fatalf("%s reaches %v", figureNames[2*i], p)
				}
			}
		}
		if area < n*n/4 {
			t.Errorf("%s covers %d of %d points", figureNames[2*i], area, 4*n*n)
		}
	}
}

func TestCoverage(t *testing.T) {
	for outside, want := range map[float64]int32{-3: 256, -0.5: 256, 0: 128, 0.25: 64, 0.5: 0, 7: 0} {
		if got := coverage(outside); got != want {
			t.Errorf("at %v: %d, want %d", outside, got, want)
		}
	}
}

// TestSceneByHand draws a dark square without rotation, noise or bar.
func TestSceneByHand(t *testing.T) {
	s := scene{
		size: 6, channels: 1, figure: square, radius: 2 / squareHalf, centre: vector{3, 3.5}, axis: vector{1, 0},
		ground: colour{200 << 8}, ink: colour{100 << 8},
	}
	want := []uint8{
		200, 200, 200, 200, 200, 200,
		200, 150, 150, 150, 150, 200,
		200, 100, 100, 100, 100, 200,
		200, 100, 100, 100, 100, 200,
		200, 100, 100, 100, 100, 200,
		200, 150, 150, 150, 150, 200,
	}
	pixels := make([]uint8, 36)
	s.draw(pixels, &draws{})
	if !slices.Equal(pixels, want) {
		t.Errorf("%v, want %v", pixels, want)
	}
	s.outlined, s.stroke, s.centre = true, 1, vector{3, 3}
	want = []uint8{
		200, 200, 200, 200, 200, 200,
		200, 100, 100, 100, 100, 200,
		200, 100, 200, 200, 100, 200,
		200, 100, 200, 200, 100, 200,
		200, 100, 100, 100, 100, 200,
		200, 200, 200, 200, 200, 200,
	}
	s.draw(pixels, &draws{})
	if !slices.Equal(pixels, want) {
		t.Errorf("outlined: %v, want %v", pixels, want)
	}
	s.hasBar, s.barCentre, s.barAxis, s.barHalf, s.bar = true, vector{3, 1.5}, vector{0, 1}, 0.5, colour{7 << 8}
	for y := range 3 { // from 0 to 3 in the column whose middle is at 3, half of either beside it
		want[6*y+2], want[6*y+3] = (want[6*y+2]+7+1)/2, (want[6*y+3]+7+1)/2
	}
	s.draw(pixels, &draws{})
	if !slices.Equal(pixels, want) {
		t.Errorf("with a bar: %v, want %v", pixels, want)
	}
}

// TestRotation turns a figure by a right angle.
func TestRotation(t *testing.T) {
	own := vector{5, 4}.in(vector{2, 3}, vector{0, 1})
	if own != (vector{1, -3}) {
		t.Errorf("%v, want 1 along the axis and -3 across", own)
	}
}

// TestPicturesAreFixed: what a seed means must not change, on any processor.
func TestPicturesAreFixed(t *testing.T) {
	s := newShapes(t, ShapesConfig{Seed: 1})
	for _, row := range []struct {
		source Source
		want   string
	}{
		{s.TrainSource(), "ed313c21f1516e19"},
		{s.HeldOutSource(), "349e6654190a4210"},
		{newShapes(t, ShapesConfig{Seed: 2, Size: 21, Channels: 1}).TrainSource(), "38e76d73685c622d"},
	} {
		h := sha256.New()
		pixels := make([]uint8, row.source.Shape().Elements())
		for n := range 64 {
			fmt.Fprint(h, row.source.Example(n, pixels))
			h.Write(pixels)
		}
		if got := fmt.Sprintf("%x", h.Sum(nil)[:8]); got != row.want {
			t.Errorf("%s: digest %s, want %s", row.source.ID(), got, row.want)
		}
	}
}

// TestPicturesDiffer: none is there twice, in one part or over both.
func TestPicturesDiffer(t *testing.T) {
	s := newShapes(t, ShapesConfig{Size: 16, Train: 3000, HeldOut: 1000})
	seen := map[string]bool{}
	for _, source := range []Source{s.TrainSource(), s.HeldOutSource()} {
		pixels := make([]uint8, source.Shape().Elements())
		for n := range source.Len() {
			if label := source.Example(n, pixels); label != n%8 {
				t.Fatalf("picture %d has label %d", n, label)
			}
			if seen[string(pixels)] {
				t.Fatalf("%s: picture %d is there twice", source.ID(), n)
			}
			seen[string(pixels)] = true
		}
	}
}

// TestLengthChangesNoPicture: picture n is the same in a longer part.
func TestLengthChangesNoPicture(t *testing.T) {
	short, long := newShapes(t, ShapesConfig{Train: 10}).TrainSource(), newShapes(t, ShapesConfig{Train: 20}).TrainSource()
	a, b := make([]uint8, 3*32*32), make([]uint8, 3*32*32)
	for n := range 10 {
		if short.Example(n, a) != long.Example(n, b) || !slices.Equal(a, b) {
			t.Fatalf("picture %d differs", n)
		}
	}
	if short.ID() == long.ID() {
		t.Error("parts of other lengths have the same ID")
	}
	defer func() {
		if recover() == nil {
			t.Error("a picture past the end was drawn")
		}
	}()
	short.Example(10, a)
}

// TestFiguresAreFilledOrOutlined: the middle of a filled figure has the ink's
// colour, that of an outlined one the ground's, which is that of most of the rim.
func TestFiguresAreFilledOrOutlined(t *testing.T) {
	for n := range 400 {
		random := draws{stream: 7, example: uint64(n)}
		s := chooseScene(n%8, 32, 3, &random)
		if s.hasBar {
			continue
		}
		ink := s.inkAt(s.centre)
		if want := int32(256 * (1 - n%2)); ink != want {
			t.Errorf("%s: %d of 256 at the centre, want %d", figureNames[n%8], ink, want)
		}
		for _, c := range []struct {
			name string
			v    float64
		}{{"column", s.centre.x}, {"row", s.centre.y}} {
			if c.v < 0.9*leastRadius || c.v > 32-0.9*leastRadius {
				t.Errorf("centre in %s %v", c.name, c.v)
			}
		}
		if length := s.axis.length(); math.Abs(s.axis.y) > mostTilt || s.axis.x < 0 || math.Abs(length-1) > 1e-12 {
			t.Errorf("turned to %v", s.axis)
		}
		for c := range 3 {
			if d := math.Abs(float64(s.ground[c]-s.ink[c])) / 256; d < leastLight-mostDark-0.01 {
				t.Errorf("colours differ by %v in channel %d", d, c)
			}
		}
	}
}

// TestInkIsLighterHalfOfTheTime, for every class: otherwise brightness tells.
func TestInkIsLighterHalfOfTheTime(t *testing.T) {
	const n = 8 * 400
	var lighter [8]int
	for i := range n {
		random := draws{stream: 7, example: uint64(i)}
		if s := chooseScene(i%8, 32, 3, &random); s.ink[0] > s.ground[0] {
			lighter[i%8]++
		}
	}
	for label, count := range lighter {
		if count < 150 || count > 250 { // 5 standard deviations
			t.Errorf("%s: %d of 400 are lighter", figureNames[label], count)
		}
	}
}

func TestShapesRefuses(t *testing.T) {
	for _, config := range []ShapesConfig{
		{Size: 15}, {Size: -32}, {Size: 1025}, {Channels: 2}, {Channels: 4}, {Channels: -1}, {Train: -1}, {HeldOut: -1},
	} {
		_, err := NewShapes(config)
		wantKind(t, err, ErrConfig)
	}
	s := newShapes(t, ShapesConfig{})
	if n, held := s.TrainSource().Len(), s.HeldOutSource().Len(); n != 50_000 || held != 2_000 {
		t.Errorf("%d and %d pictures", n, held)
	}
}
