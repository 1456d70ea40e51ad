package images_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/stria-ml/stria/datasets/images"
)

// Batches of figures that are drawn as they are asked for.
func Example() {
	shapes, err := images.NewShapes(images.ShapesConfig{Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	train := shapes.TrainSource()
	loader, err := images.NewLoader(train, images.LoaderConfig{
		BatchSize:     4,
		Seed:          1,
		Normalization: images.HalfNormalization(3),
		Augmentation:  images.Augmentation{Shift: 2, Flip: 0.5},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	pixels := make([]float32, 4*train.Shape().Elements()) // (B, C, H, W)
	labels := make([]int64, 4)
	if err := loader.Next(pixels, labels); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(train.Len(), "images of", train.Shape())
	for _, label := range labels {
		fmt.Println(train.Classes()[label])
	}
	// Output:
	// 50000 images of 3x32x32
	// filled triangle
	// filled circle
	// filled circle
	// outlined square
}

// A source that one writes: nothing but its five methods is needed.
func ExampleSource() {
	var source images.Source = stripes{}
	pass, err := images.NewPass(source, images.PassConfig{
		BatchSize: 2, Normalization: images.Normalization{Mean: []float32{0}, Std: []float32{1}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	pixels, labels := make([]float32, 2*4), make([]int64, 2)
	for {
		rows, err := pass.Next(pixels, labels)
		if rows == 0 || err != nil {
			break
		}
		fmt.Println(rows, pixels, labels)
	}
	// Output:
	// 2 [1 1 0 0 1 0 1 0] [0 1]
	// 1 [1 1 0 0 0 0 0 0] [0 -100]
}

// stripes are three images of 2x2, in turn across and down.
type stripes struct{}

func (stripes) ID() string          { return "stripes" }
func (stripes) Len() int            { return 3 }
func (stripes) Shape() images.Shape { return images.Shape{Channels: 1, Height: 2, Width: 2} }
func (stripes) Classes() []string   { return []string{"across", "down"} }

func (stripes) Example(n int, pixels []uint8) (label int) {
	copy(pixels, [][]uint8{{255, 255, 0, 0}, {255, 0, 255, 0}}[n%2])
	return n % 2
}

func ExampleSplit() {
	shapes, err := images.NewShapes(images.ShapesConfig{Train: 1000})
	if err != nil {
		fmt.Println(err)
		return
	}
	train, validation, err := images.Split(shapes.TrainSource(), 0.1, 1)
	fmt.Println(train.Len(), validation.Len(), err)
	few, err := images.Range(train, 0, 64)
	fmt.Println(few.Len(), err)
	// Output:
	// 900 100 <nil>
	// 64 <nil>
}

func ExampleNormalization_Apply() {
	n := images.Normalization{Mean: []float32{0.5, 0}, Std: []float32{0.25, 2}}
	values := make([]float32, 4)
	err := n.Apply(values, []uint8{0, 255, 0, 255}, 2) // two pixels of each channel
	fmt.Println(values, err)
	// Output:
	// [-2 2 0 0.5] <nil>
}

// The changes depend on seed and position alone: here a shift to the right and a
// flip, then a flip alone.
func ExampleAugmentation_Apply() {
	pixels := []uint8{
		1, 2, 3,
		4, 5, 6,
		7, 8, 9,
	}
	out := make([]uint8, 9)
	shift := images.Augmentation{Shift: 1, Flip: 0.5}
	for position := range uint64(2) {
		err := shift.Apply(out, pixels, images.Shape{Channels: 1, Height: 3, Width: 3}, 1, position)
		fmt.Println(out[:3], out[3:6], out[6:], err)
	}
	// Output:
	// [2 1 0] [5 4 0] [8 7 0] <nil>
	// [3 2 1] [6 5 4] [9 8 7] <nil>
}

// Errors have a kind, and name the file, what was wanted and what was found.
func ExampleError() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	header := []byte{0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 28, 0, 0, 0, 28}
	labels := []byte{0, 0, 8, 1, 0, 0, 0, 2, 7, 2}
	if err := os.WriteFile(filepath.Join(dir, "images"), header, 0o600); err != nil {
		fmt.Println(err)
		return
	}
	if err := os.WriteFile(filepath.Join(dir, "labels"), labels, 0o600); err != nil {
		fmt.Println(err)
		return
	}
	_, err = images.OpenIDX(filepath.Join(dir, "images"), filepath.Join(dir, "labels"), images.IDXConfig{})
	fmt.Println(errors.Is(err, images.ErrTruncated))
	var e *images.Error
	if errors.As(err, &e) {
		fmt.Println(filepath.Base(e.File)+":", e.Field, "is", e.Found+", want", e.Want)
	}
	// Output:
	// true
	// images: length of the pixels is 0 bytes, want 1568 bytes
}
