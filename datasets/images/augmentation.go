package images

import (
	"fmt"
	"math"

	"github.com/stria-ml/stria/internal/seeded"
)

// Augmentation is the random changes that a [Loader] makes to images. The zero
// value makes none. They are applied in the order of the fields, and each draws
// from a random stream of its own: switching one on does not change the others.
type Augmentation struct {
	// Crop pads the image by so many pixels on each side with its mirror image
	// (the edge itself is not repeated) and cuts a piece of the image's size out
	// at a random place.
	Crop int `json:"crop"`

	// Shift moves the image by up to so many pixels up or down, and left or
	// right; what comes into view is 0.
	Shift int `json:"shift"`

	// Flip is the probability of exchanging left and right.
	Flip float64 `json:"flip"`

	// Erase is the probability of filling a random rectangle with random pixel
	// values: between 2 % and a third of the image, with sides in a ratio of
	// 3:10 to 10:3. (Z. Zhong, L. Zheng, G. Kang, S. Li, Y. Yang, "Random
	// erasing data augmentation", AAAI 2020, algorithm 1.)
	Erase float64 `json:"erase"`
}

// Check returns an error of kind [ErrConfig] where Crop or Shift is negative or
// not below the image's height and width, or a probability not within 0 to 1.
func (a Augmentation) Check(shape Shape) error {
	if err := shape.check(); err != nil {
		return err
	}
	most := min(shape.Height, shape.Width) - 1
	for _, field := range []struct {
		name  string
		value int
	}{{"crop", a.Crop}, {"shift", a.Shift}} {
		if field.value < 0 || field.value > most {
			return &Error{
				Kind: ErrConfig, Field: field.name, Want: fmt.Sprintf("0 to %d pixels in images of %s", most, shape),
				Found: fmt.Sprint(field.value),
			}
		}
	}
	for _, field := range []struct {
		name  string
		value float64
	}{{"flip", a.Flip}, {"erase", a.Erase}} {
		if !(field.value >= 0 && field.value <= 1) {
			return &Error{Kind: ErrConfig, Field: field.name, Want: "a probability, 0 to 1", Found: fmt.Sprint(field.value)}
		}
	}
	return nil
}

// Apply writes the changed image to dst: (C, H, W), as a [Loader] with the seed
// changes the image that it draws at the position. The pixels: (C, H, W) must not
// overlap dst. Other lengths than those of the shape, and what Check refuses, are
// an error of kind [ErrConfig].
func (a Augmentation) Apply(dst, pixels []uint8, shape Shape, seed, position uint64) error {
	if err := a.Check(shape); err != nil {
		return err
	}
	if n := shape.Elements(); len(dst) != n || len(pixels) != n {
		return &Error{
			Kind: ErrConfig, Field: "image to augment", Want: fmt.Sprintf("%d values in both slices", n),
			Found: fmt.Sprintf("of %d, and its room of %d", len(pixels), len(dst)),
		}
	}
	copy(dst, newAugmenter(a, shape, seed).apply(pixels, position))
	return nil
}

const (
	leastErased, mostErased = 0.02, 1.0 / 3 // parts of the area
	flattest                = 0.3           // height over width; the steepest is the inverse
	eraseTries              = 10            // rectangles drawn until one fits
)

// rectangle is the rows from top and the columns from left.
type rectangle struct{ top, left, height, width int }

// chooseRectangle returns the rectangle that the stream gives at a position, or
// false where all of ten were larger than the image. Number 0 of the position is
// left to the choice whether to erase at all.
func chooseRectangle(shape Shape, stream seeded.Stream, position uint64) (rectangle, bool) {
	area := float64(shape.Height * shape.Width)
	number := uint64(0)
	next := func() [2]uint64 {
		number++
		return [2]uint64{position, number}
	}
	for range eraseTries {
		// The conversions keep the compiler from joining product and sum, which
		// would round otherwise on some processors.
		erased := area * (leastErased + float64(stream.Unit(next())*(mostErased-leastErased)))
		ratio := flattest + float64(stream.Unit(next())*(1/flattest-flattest))
		height, width := int(math.Round(math.Sqrt(erased*ratio))), int(math.Round(math.Sqrt(erased/ratio)))
		if height < 1 || width < 1 || height > shape.Height || width > shape.Width {
			continue
		}
		top, left := stream.Below(shape.Height-height+1, next()), stream.Below(shape.Width-width+1, next())
		return rectangle{top, left, height, width}, true
	}
	return rectangle{}, false
}
