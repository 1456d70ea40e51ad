package images

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// decoded decodes a file that holds data.
func decoded(t *testing.T, data []byte, shape Shape, rule ChannelRule) []uint8 {
	t.Helper()
	pixels, err := DecodeImage(write(t, t.TempDir(), "image", data), shape, rule)
	if err != nil {
		t.Fatal(err)
	}
	return pixels
}

// TestSameSizeIsExact: an image of the shape's size is neither scaled nor cut.
func TestSameSizeIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := shapes(t)
		shape.Channels = rapid.SampledFrom([]int{1, 3}).Draw(t, "channels")
		area := shape.Height * shape.Width
		want := rapid.SliceOfN(rapid.Byte(), shape.Elements(), shape.Elements()).Draw(t, "values")
		var img image.Image = grey(shape.Width, want[:area]...)
		if shape.Channels == 3 {
			rgba := image.NewRGBA(image.Rect(0, 0, shape.Width, shape.Height))
			for i := range area {
				rgba.SetRGBA(i%shape.Width, i/shape.Width, color.RGBA{want[i], want[area+i], want[2*area+i], 255})
			}
			img = rgba
		}
		got := make([]uint8, len(want))
		fit(got, shape, img)
		if !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}

func TestFormats(t *testing.T) {
	red := plain(8, 8, color.RGBA{255, 0, 0, 255})
	for _, format := range []string{"png", "gif", "jpeg"} {
		got := decoded(t, encode(t, format, red), Shape{3, 4, 4}, SameChannels)
		for i, v := range got {
			want := 0
			if i < 16 {
				want = 255
			}
			if d := int(v) - want; d < -2 || d > 2 { // JPEG is not exact
				t.Errorf("%s: value %d is %d, want %d", format, i, v, want)
				break
			}
		}
	}
	for _, format := range []string{"png", "jpeg"} {
		got := decoded(t, encode(t, format, grey(4, slices.Repeat([]uint8{90}, 16)...)), Shape{1, 4, 4}, SameChannels)
		if !slices.Equal(got, slices.Repeat([]uint8{90}, 16)) {
			t.Errorf("grey %s: %v", format, got)
		}
	}
}

func TestCentreByHand(t *testing.T) {
	for _, row := range []struct {
		bounds image.Rectangle
		shape  Shape
		want   image.Rectangle
	}{
		{image.Rect(0, 0, 8, 8), Shape{3, 4, 4}, image.Rect(0, 0, 8, 8)},
		{image.Rect(0, 0, 10, 4), Shape{3, 2, 2}, image.Rect(3, 0, 7, 4)},
		{image.Rect(0, 0, 4, 9), Shape{3, 2, 2}, image.Rect(0, 2, 4, 6)},
		{image.Rect(5, 7, 15, 11), Shape{3, 2, 2}, image.Rect(8, 7, 12, 11)},
		{image.Rect(0, 0, 12, 8), Shape{3, 2, 6}, image.Rect(0, 2, 12, 6)},
		{image.Rect(0, 0, 100, 1), Shape{3, 64, 1}, image.Rect(49, 0, 50, 1)},
	} {
		if got := centre(row.bounds, row.shape); got != row.want {
			t.Errorf("%v for %v: %v, want %v", row.bounds, row.shape, got, row.want)
		}
	}
}

// TestCentreProperty: the rectangle lies within, touches two sides at least, and
// has the proportions to within a pixel.
func TestCentreProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		side := rapid.IntRange(1, 300)
		bounds := image.Rect(0, 0, side.Draw(t, "width"), side.Draw(t, "height"))
		shape := Shape{1, side.Draw(t, "H"), side.Draw(t, "W")}
		r := centre(bounds, shape)
		if r.Empty() || !r.In(bounds) || r.Dx() != bounds.Dx() && r.Dy() != bounds.Dy() {
			t.Fatalf("%v of %v for %v", r, bounds, shape)
		}
		if off := abs(r.Dx()*shape.Height - r.Dy()*shape.Width); off > max(shape.Height, shape.Width) {
			t.Fatalf("%v of %v for %v", r, bounds, shape)
		}
	})
}

func abs(n int) int { return max(n, -n) }

// TestCrop cuts the left and right thirds off.
func TestCrop(t *testing.T) {
	img := image.NewRGBA(image.Rect(0, 0, 12, 4))
	for i := range 48 {
		x := i % 12
		img.SetRGBA(x, i/12, color.RGBA{uint8(x / 4 * 100), 7, 9, 255})
	}
	got := decoded(t, encode(t, "png", img), Shape{3, 4, 4}, SameChannels)
	want := append(slices.Repeat([]uint8{100}, 16), append(slices.Repeat([]uint8{7}, 16), slices.Repeat([]uint8{9}, 16)...)...)
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestScaleByHand: halving takes four pixels to one with the weights 1 3 3 1 over
// 8, and where two of them lie outside, 3 3 1 over 7; doubling lies a quarter from
// the nearer.
func TestScaleByHand(t *testing.T) {
	line := grey(4, 0, 56, 112, 224)
	if got := decoded(t, encode(t, "png", line), Shape{1, 1, 2}, SameChannels); len(got) != 2 {
		t.Fatal(got)
	}
	got := make([]uint8, 2)
	fit(got, Shape{1, 1, 2}, grey(4, slices.Repeat([]uint8{0, 56, 112, 224}, 2)...))
	// (3·0 + 3·56 + 112)/7 = 40 and (56 + 3·112 + 3·224)/7 = 152
	if !slices.Equal(got, []uint8{40, 152}) {
		t.Errorf("halved: %v, want [40 152]", got)
	}
	wide := make([]uint8, 8)
	fit(wide, Shape{1, 2, 4}, grey(2, 0, 200))
	// 0, 0·3/4 + 200/4, 0/4 + 200·3/4, 200
	if want := []uint8{0, 50, 150, 200, 0, 50, 150, 200}; !slices.Equal(wide, want) {
		t.Errorf("doubled: %v, want %v", wide, want)
	}
}

// TestChannelRules names what counts as grey, and converts both ways.
func TestChannelRules(t *testing.T) {
	dir := t.TempDir()
	greys := color.Palette{color.Gray{0}, color.Gray{90}}
	colours := color.Palette{color.Gray{0}, color.RGBA{30, 60, 91, 255}}
	paletted := func(p color.Palette) *image.Paletted {
		img := image.NewPaletted(image.Rect(0, 0, 2, 2), p)
		copy(img.Pix, []uint8{1, 1, 1, 1})
		return img
	}
	deep := image.NewGray16(image.Rect(0, 0, 2, 2))
	for i := range 4 {
		deep.SetGray16(i%2, i/2, color.Gray16{90<<8 | 90})
	}
	halfway := image.NewNRGBA(image.Rect(0, 0, 2, 2))
	for i := range 4 {
		halfway.SetNRGBA(i%2, i/2, color.NRGBA{200, 100, 50, 128})
	}
	for _, row := range []struct {
		name     string
		img      image.Image
		channels int
		grey     uint8
		colour   [3]uint8
	}{
		{"grey", grey(2, 90, 90, 90, 90), 1, 90, [3]uint8{90, 90, 90}},
		{"deep grey", deep, 1, 90, [3]uint8{90, 90, 90}},
		{"palette of greys", paletted(greys), 1, 90, [3]uint8{90, 90, 90}},
		{"palette", paletted(colours), 3, 60, [3]uint8{30, 60, 91}},
		{"colour", plain(2, 2, color.RGBA{30, 60, 91, 255}), 3, 60, [3]uint8{30, 60, 91}},
		{"half transparent", halfway, 3, 58, [3]uint8{100, 50, 25}},
	} {
		path := write(t, dir, row.name+".png", encode(t, "png", row.img))
		for _, channels := range []int{1, 3} {
			shape := Shape{channels, 2, 2}
			_, err := DecodeImage(path, shape, SameChannels)
			if channels == row.channels && err != nil {
				t.Errorf("%s: %v", row.name, err)
			}
			if channels != row.channels {
				wantKind(t, err, ErrChannels)
			}
			want := slices.Repeat([]uint8{row.grey}, 4)
			if channels == 3 {
				want = slices.Concat(slices.Repeat(row.colour[:1], 4), slices.Repeat(row.colour[1:2], 4), slices.Repeat(row.colour[2:], 4))
			}
			got, err := DecodeImage(path, shape, ConvertChannels)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s in %d channels: %v, %v, want %v", row.name, channels, got, err, want)
			}
		}
	}
}

// TestFirstFrame reads the first of a GIF's frames, which is smaller than the
// image.
func TestFirstFrame(t *testing.T) {
	palette := color.Palette{color.RGBA{1, 2, 3, 255}, color.RGBA{200, 100, 50, 255}}
	frame := func(bounds image.Rectangle, index uint8) *image.Paletted {
		img := image.NewPaletted(bounds, palette)
		for i := range img.Pix {
			img.Pix[i] = index
		}
		return img
	}
	var file bytes.Buffer
	err := gif.EncodeAll(&file, &gif.GIF{
		Image:  []*image.Paletted{frame(image.Rect(3, 3, 7, 7), 1), frame(image.Rect(0, 0, 8, 8), 0)},
		Delay:  []int{1, 1},
		Config: image.Config{ColorModel: palette, Width: 8, Height: 8},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := decoded(t, file.Bytes(), Shape{3, 1, 1}, SameChannels)
	if !slices.Equal(got, []uint8{200, 100, 50}) {
		t.Errorf("%v", got)
	}
}

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	file := func(name, format string, level uint8) {
		write(t, dir, name, encode(t, format, plain(5, 4, color.RGBA{level, 0, 0, 255})))
	}
	file("dog/2.png", "png", 30)
	file("dog/1.PNG", "png", 20)
	file("cat/x.gif", "gif", 255) // of the few reds in its palette
	write(t, dir, ".hidden/notes", nil)
	write(t, dir, "cat/.DS_Store", nil)
	write(t, dir, "README.txt", nil)
	link(t, filepath.Join(dir, "dog", "2.png"), filepath.Join(dir, "dog", "3.png"))
	s, err := OpenFolder(dir, FolderConfig{Shape: Shape{3, 1, 1}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.Classes(), []string{"cat", "dog"}) {
		t.Errorf("classes %q", s.Classes())
	}
	wantImages(t, s, []int{0, 1, 1, 1}, []uint8{255, 0, 0}, []uint8{20, 0, 0}, []uint8{30, 0, 0}, []uint8{30, 0, 0})

	s, err = OpenFolder(dir, FolderConfig{Shape: Shape{1, 1, 1}, Channels: ConvertChannels, Classes: []string{"dog", "horse", "cat"}, MaxBytes: 4, MaxPixels: 20})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.Classes(), []string{"dog", "horse", "cat"}) {
		t.Errorf("classes %q", s.Classes())
	}
	wantImages(t, s, []int{2, 0, 0, 0}, []uint8{85}, []uint8{7}, []uint8{10}, []uint8{10})
}

// TestFirstBadFileIsReported, whichever goroutine fails first.
func TestFirstBadFileIsReported(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"05", "11", "12", "30"} {
		write(t, dir, "a/"+name+".png", []byte("bad"))
	}
	for i := range 40 {
		if name := string([]byte{'0' + byte(i/10), '0' + byte(i%10)}); !slices.Contains([]string{"05", "11", "12", "30"}, name) {
			write(t, dir, "a/"+name+".png", encode(t, "png", plain(20, 20, color.RGBA{1, 2, 3, 255})))
		}
	}
	for range 20 {
		_, err := OpenFolder(dir, FolderConfig{Shape: Shape{3, 16, 16}})
		if e := wantKind(t, err, ErrDecode); filepath.Base(e.File) != "05.png" {
			t.Fatalf("%v", err)
		}
	}
}
