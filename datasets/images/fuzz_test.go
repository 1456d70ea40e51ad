package images

import (
	"bytes"
	"image"
	"image/color"
	"math"
	"testing"
)

// typed checks that an error is of this package, and says something.
func typed(t *testing.T, err error) {
	t.Helper()
	e, ok := err.(*Error)
	if !ok || e.Kind < 1 || int(e.Kind) >= len(kinds) || e.Error() == "" {
		t.Fatalf("error %#v", err)
	}
}

func FuzzIDX(f *testing.F) {
	f.Add(twoImages, twoLabels)
	f.Add(zipped(twoImages), zipped(twoLabels))
	f.Add(twoLabels, twoImages)
	f.Add(idx(0x803, []uint32{math.MaxUint32, 1 << 16, 1 << 16}), idx(0x801, []uint32{math.MaxUint32}))
	f.Add(zipped(idx(0x803, []uint32{1, 1000, 1000})), idx(0x801, []uint32{1}, 0))
	f.Add(append(zipped(twoImages), 0), twoLabels[:9])
	f.Fuzz(func(t *testing.T, images, labels []byte) {
		s, err := fuzzIDX(images, labels)
		if err != nil {
			typed(t, err)
			return
		}
		// What was accepted is, unpacked, exactly what it says.
		shape := s.Shape()
		again := idx(imagesMagic, []uint32{uint32(s.Len()), uint32(shape.Height), uint32(shape.Width)})
		names := idx(labelsMagic, []uint32{uint32(s.Len())})
		pixels := make([]uint8, shape.Elements())
		for n := range s.Len() {
			names = append(names, byte(s.Example(n, pixels)))
			again = append(again, pixels...)
		}
		copied, err := fuzzIDX(again, names)
		if err != nil || copied.ID() != s.ID() {
			t.Fatalf("written again: %v, %v", copied, err)
		}
		if images[0] == 0 && !bytes.Equal(images, again) || labels[0] == 0 && !bytes.Equal(labels, names) {
			t.Fatal("written again, it differs")
		}
	})
}

func fuzzIDX(images, labels []byte) (*Set, error) {
	imageFile, err := newBinary("images", bytes.NewReader(images), int64(len(images)))
	if err != nil {
		return nil, err
	}
	labelFile, err := newBinary("labels", bytes.NewReader(labels), int64(len(labels)))
	if err != nil {
		return nil, err
	}
	return readIDX("fuzz", imageFile, labelFile, IDXConfig{MaxBytes: 1 << 20})
}

func FuzzCIFAR(f *testing.F) {
	f.Add(cifarRecord(0, 9), false)
	f.Add(cifarRecord(0, 10), false)
	f.Add(cifarRecord(0, 19, 99), true)
	f.Add(zipped(cifarRecord(5, 3, 4)), true)
	f.Add([]byte{0x1f, 0x8b}, false)
	f.Fuzz(func(t *testing.T, data []byte, hundred bool) {
		kind := cifar10
		if hundred {
			kind = cifar100
		}
		kind.maxBytes = 1 << 20
		file, err := newBinary("batch", bytes.NewReader(data), int64(len(data)))
		if err != nil {
			typed(t, err)
			return
		}
		var all records
		if err := kind.read(file, &all); err != nil {
			typed(t, err)
			return
		}
		if len(all.labels) == 0 || len(all.pixels) != 3072*len(all.labels) {
			t.Fatalf("%d labels and %d values", len(all.labels), len(all.pixels))
		}
		if data[0] != 0x1f && len(data) != len(all.labels)*(3072+len(kind.labels)) {
			t.Fatalf("%d records of %d bytes", len(all.labels), len(data))
		}
		if _, err := makeSet("fuzz", cifarShape, kind.classes, all.pixels, all.labels); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzDecodeImage(f *testing.F) {
	for _, format := range []string{"png", "gif", "jpeg"} {
		f.Add(encode(f, format, plain(9, 7, color.RGBA{1, 200, 3, 255})))
	}
	f.Add(encode(f, "png", grey(3, 1, 2, 3)))
	f.Add(encode(f, "png", image.NewGray16(image.Rect(0, 0, 300, 2))))
	f.Add(boast(encode(f, "png", grey(3, 1, 2, 3))))
	f.Add([]byte("GIF89a\x01\x00\x01\x00\x00\x00\x00;"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, channels := range []int{1, 3} {
			for _, rule := range []ChannelRule{SameChannels, ConvertChannels} {
				d, err := newDecoder(Shape{channels, 5, 3}, rule, 1<<16)
				if err != nil {
					t.Fatal(err)
				}
				if err := d.decode("image", bytes.NewReader(data), make([]uint8, 15*channels)); err != nil {
					typed(t, err)
				}
			}
		}
	})
}
