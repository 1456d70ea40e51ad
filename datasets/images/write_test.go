package images

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// idx returns an IDX file of unsigned bytes.
func idx(magic uint32, dims []uint32, data ...byte) []byte {
	file := binary.BigEndian.AppendUint32(nil, magic)
	for _, n := range dims {
		file = binary.BigEndian.AppendUint32(file, n)
	}
	return append(file, data...)
}

// count returns n bytes that count up from first.
func count(first, n int) []byte {
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(first + i)
	}
	return data
}

// zipped returns data as gzip packs it.
func zipped(data []byte) []byte {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	w.Write(data)
	w.Close()
	return packed.Bytes()
}

// cifarRecord returns a record whose pixels count up from first.
func cifarRecord(first int, labels ...byte) []byte {
	return append(labels, count(first, 3072)...)
}

// write writes a file, and the folders above it, beneath a folder.
func write(t testing.TB, dir, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// encode returns an image file of a format.
func encode(t testing.TB, format string, img image.Image) []byte {
	t.Helper()
	var file bytes.Buffer
	var err error
	switch format {
	case "png":
		err = png.Encode(&file, img)
	case "jpeg":
		err = jpeg.Encode(&file, img, &jpeg.Options{Quality: 95})
	case "gif":
		err = gif.Encode(&file, img, nil)
	default:
		t.Fatalf("no format %s", format)
	}
	if err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// plain returns an image of one colour.
func plain(width, height int, c color.Color) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for i := range width * height {
		img.Set(i%width, i/width, c)
	}
	return img
}

// grey returns a grey image with the levels given, row by row.
func grey(width int, levels ...uint8) *image.Gray {
	img := image.NewGray(image.Rect(0, 0, width, len(levels)/width))
	copy(img.Pix, levels)
	return img
}

// wantImages compares all images of a source, one line of values each.
func wantImages(t *testing.T, s Source, labels []int, want ...[]uint8) {
	t.Helper()
	if s.Len() != len(want) {
		t.Fatalf("%d images, want %d", s.Len(), len(want))
	}
	pixels := make([]uint8, s.Shape().Elements())
	for n := range want {
		label := s.Example(n, pixels)
		if label != labels[n] || !slices.Equal(pixels, want[n]) {
			t.Errorf("image %d is %v with label %d, want %v with %d", n, pixels, label, want[n], labels[n])
		}
	}
}

// wantKind checks that an error is an *Error of a kind.
func wantKind(t *testing.T, err error, kind Kind) *Error {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || e.Kind != kind || !errors.Is(err, kind) {
		t.Fatalf("error %v, want one of kind %q", err, kind)
	}
	return e
}

// newSet returns a set of n images whose values count up through all of them.
func newSet(t testing.TB, shape Shape, n int) *Set {
	t.Helper()
	labels := make([]int, n)
	for i := range labels {
		labels[i] = i % 3
	}
	s, err := NewSet("test", shape, []string{"a", "b", "c"}, count(0, n*shape.Elements()), labels)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
