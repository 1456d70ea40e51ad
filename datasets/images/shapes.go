package images

import (
	"fmt"
	"math"

	"github.com/stria-ml/stria/internal/seeded"
)

// Defaults of [ShapesConfig].
const (
	DefaultShapesSize    = 32
	DefaultShapesTrain   = 50_000
	DefaultShapesHeldOut = 2_000

	leastShapesSize, mostShapesSize = 16, 1024
)

// ShapesConfig configures [NewShapes]. Zero values mean the defaults.
type ShapesConfig struct {
	Size     int    // height and width of the images, 16 to 1024; 0 means 32
	Channels int    // 3, or 1 for grey; 0 means 3
	Train    int    // number of images to train on; 0 means 50,000
	HeldOut  int    // number of images held out; 0 means 2,000
	Seed     uint64 // of all images
}

// Shapes is the task of naming a figure: circle, square, triangle or cross,
// filled or outlined, eight classes in all. Each picture shows one, of random
// place, size and colour, turned by up to 30 degrees either way, under noise, and
// three of ten with a bar that hides a part of it. It is as often lighter than its
// background as darker, so that a linear model learns next to nothing.
//
// Pictures are drawn when they are asked for. Picture n is a function of the
// seed, the part and n alone, and its label is n modulo 8.
type Shapes struct{ config ShapesConfig }

// NewShapes returns the pictures of a config. What is out of range is an error
// of kind [ErrConfig].
func NewShapes(config ShapesConfig) (*Shapes, error) {
	for _, field := range []struct {
		name        string
		value       *int
		unset       int
		least, most int
	}{
		{"size of the images", &config.Size, DefaultShapesSize, leastShapesSize, mostShapesSize},
		{"number of channels", &config.Channels, 3, 1, 3},
		{"number of images to train on", &config.Train, DefaultShapesTrain, 1, math.MaxInt32},
		{"number of images held out", &config.HeldOut, DefaultShapesHeldOut, 1, math.MaxInt32},
	} {
		if *field.value == 0 {
			*field.value = field.unset
		}
		if *field.value < field.least || *field.value > field.most {
			return nil, &Error{
				Kind: ErrConfig, Field: field.name, Want: fmt.Sprintf("%d to %d", field.least, field.most),
				Found: fmt.Sprint(*field.value),
			}
		}
	}
	if config.Channels == 2 {
		return nil, &Error{Kind: ErrConfig, Field: "number of channels", Want: "1 or 3", Found: "2"}
	}
	return &Shapes{config: config}, nil
}

// TrainSource returns the pictures to train on.
func (s *Shapes) TrainSource() Source {
	return &drawings{s.config, "train", s.config.Train, seeded.New(s.config.Seed, forShapes)}
}

// HeldOutSource returns the pictures that are held out. They come from a random
// stream of their own.
func (s *Shapes) HeldOutSource() Source {
	return &drawings{s.config, "held out", s.config.HeldOut, seeded.New(s.config.Seed, forHeldOut)}
}

// drawings is one part of the pictures.
type drawings struct {
	config ShapesConfig
	part   string
	n      int
	stream seeded.Stream
}

// The version of the drawing is part of the ID: pictures drawn otherwise are
// other data.
func (d *drawings) ID() string {
	return fmt.Sprintf("shapes 1 %s %d of %s seed=%d", d.part, d.n, d.Shape(), d.config.Seed)
}

func (d *drawings) Len() int          { return d.n }
func (d *drawings) Shape() Shape      { return Shape{d.config.Channels, d.config.Size, d.config.Size} }
func (d *drawings) Classes() []string { return figureNames }

func (d *drawings) Example(n int, pixels []uint8) (label int) {
	if n < 0 || n >= d.n {
		panic(fmt.Sprintf("images: example %d of %d", n, d.n))
	}
	label = n % len(figureNames)
	random := draws{stream: d.stream, example: uint64(n)}
	picture := chooseScene(label, d.config.Size, d.config.Channels, &random)
	picture.draw(pixels, &random)
	return label
}

// draws is the random numbers of one example, one after the other.
type draws struct {
	stream  seeded.Stream
	example uint64
	number  uint64 // of the next
}

// between returns a random number from low up to high.
func (d *draws) between(low, high float64) float64 {
	u := d.stream.Unit([2]uint64{d.example, d.number})
	d.number++
	return low + float64(u*(high-low))
}

// direction returns a random point of the unit circle: one of the disc, drawn
// until it lies within, moved out to the rim. (Sine and cosine are not the same
// bits on all processors.)
func (d *draws) direction() vector {
	for {
		v := vector{d.between(-1, 1), d.between(-1, 1)}
		if length := v.length(); length > 0.1 && length <= 1 {
			return vector{v.x / length, v.y / length}
		}
	}
}

// tilt returns a point of the unit circle, a random angle off the first axis
// whose sine is mostTilt at most.
func (d *draws) tilt() vector {
	y := d.between(-mostTilt, mostTilt)
	return vector{math.Sqrt(1 - float64(y*y)), y}
}
