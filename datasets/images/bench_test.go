package images

import "testing"

func BenchmarkShapes(b *testing.B) {
	s, err := NewShapes(ShapesConfig{Seed: 1})
	if err != nil {
		b.Fatal(err)
	}
	source := s.TrainSource()
	pixels := make([]uint8, source.Shape().Elements())
	b.ReportAllocs()
	for i := range b.N {
		source.Example(i%source.Len(), pixels)
	}
}

func BenchmarkAugmentation(b *testing.B) {
	shape := Shape{3, 32, 32}
	a := newAugmenter(Augmentation{Crop: 4, Shift: 2, Flip: 0.5, Erase: 0.5}, shape, 1)
	pixels := make([]uint8, shape.Elements())
	b.ReportAllocs()
	for i := range b.N {
		a.apply(pixels, uint64(i))
	}
}
