package images

import (
	"slices"
	"testing"
)

var (
	twoImages = idx(0x803, []uint32{2, 2, 3}, count(10, 12)...)
	twoLabels = idx(0x801, []uint32{2}, 4, 1)
)

func TestIDX(t *testing.T) {
	dir := t.TempDir()
	for _, row := range []struct {
		name           string
		images, labels []byte
	}{
		{"plain", twoImages, twoLabels},
		{"compressed", zipped(twoImages), zipped(twoLabels)},
		{"one compressed", twoImages, zipped(twoLabels)},
		{"in two parts", append(zipped(twoImages[:9]), zipped(twoImages[9:])...), twoLabels},
	} {
		images, labels := write(t, dir, row.name+" images", row.images), write(t, dir, row.name+" labels", row.labels)
		s, err := OpenIDX(images, labels, IDXConfig{})
		if err != nil {
			t.Fatalf("%s: %v", row.name, err)
		}
		if s.Shape() != (Shape{1, 2, 3}) || !slices.Equal(s.Classes(), []string{"0", "1", "2", "3", "4"}) {
			t.Errorf("%s: shape %v, classes %v", row.name, s.Shape(), s.Classes())
		}
		wantImages(t, s, []int{4, 1}, count(10, 6), count(16, 6))
	}
}

func TestIDXClasses(t *testing.T) {
	dir := t.TempDir()
	images, labels := write(t, dir, "images", twoImages), write(t, dir, "labels", twoLabels)
	names := []string{"v", "w", "x", "y", "z"}
	s, err := OpenIDX(images, labels, IDXConfig{Classes: names, MaxBytes: 12})
	if err != nil || !slices.Equal(s.Classes(), names) {
		t.Fatalf("classes %v, %v", s.Classes(), err)
	}
	names[0] = "changed"
	if s.Classes()[0] != "v" {
		t.Error("the set shares its classes with the caller")
	}
}

// TestLongCompressed reads more than is allocated before it has been seen.
func TestLongCompressed(t *testing.T) {
	const n = 3*firstRead + 17
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(i * 7 >> 8)
	}
	dir := t.TempDir()
	images := write(t, dir, "images.gz", zipped(idx(0x803, []uint32{1, 1, n}, data...)))
	s, err := OpenIDX(images, write(t, dir, "labels", idx(0x801, []uint32{1}, 0)), IDXConfig{})
	if err != nil {
		t.Fatal(err)
	}
	wantImages(t, s, []int{0}, data)
}

func TestMNISTNames(t *testing.T) {
	for _, names := range [][2]string{
		{"train-images-idx3-ubyte", "train-labels-idx1-ubyte"},
		{"train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"},
		{"train-images.idx3-ubyte", "train-labels.idx1-ubyte"},
	} {
		dir := t.TempDir()
		write(t, dir, names[0], twoImages)
		write(t, dir, names[1], twoLabels)
		digits, err := OpenMNIST(dir, Train)
		if err != nil {
			t.Fatal(err)
		}
		clothes, err := OpenFashionMNIST(dir, Train)
		if err != nil {
			t.Fatal(err)
		}
		if digits.Classes()[9] != "9" || clothes.Classes()[9] != "Ankle boot" || len(clothes.Classes()) != 10 {
			t.Errorf("classes %v and %v", digits.Classes(), clothes.Classes())
		}
		if digits.ID() == clothes.ID() {
			t.Error("digits and clothes have the same ID")
		}
	}
}
