package images

import (
	"fmt"
	"strconv"

	"github.com/stria-ml/stria/internal/freelist"
)

// CheckChannels returns an error of kind [ErrChannels] unless the images of the
// source have the number of channels that is wanted.
func CheckChannels(source Source, channels int) error {
	if found := source.Shape().Channels; found != channels {
		return &Error{
			Kind: ErrChannels, Field: "number of channels of the images",
			Want: strconv.Itoa(channels), Found: strconv.Itoa(found),
		}
	}
	return nil
}

// AdaptChannels returns the source with images of another number of channels:
// one channel is repeated, several are averaged to one (rounded to the nearest,
// halves up). Other changes are an error of kind [ErrChannels].
func AdaptChannels(source Source, channels int) (Source, error) {
	shape := source.Shape()
	switch {
	case channels < 1:
		return nil, &Error{Kind: ErrConfig, Field: "number of channels", Want: "at least 1", Found: strconv.Itoa(channels)}
	case shape.Channels == channels:
		return source, nil
	case shape.Channels != 1 && channels != 1:
		return nil, &Error{
			Kind: ErrChannels, Field: "number of channels of the images",
			Want: fmt.Sprintf("1 or %d, which can become %d", channels, channels), Found: strconv.Itoa(shape.Channels),
		}
	}
	a := &adapted{Source: source, shape: shape}
	a.shape.Channels = channels
	if err := a.shape.check(); err != nil {
		return nil, err
	}
	return a, nil
}

// adapted is a source with its channels repeated or averaged.
type adapted struct {
	Source
	shape   Shape
	scratch freelist.List[[]uint8] // images of the source, which do not fit in the result
}

func (a *adapted) Shape() Shape { return a.shape }

func (a *adapted) ID() string {
	return fmt.Sprintf("%d channels of (%s)", a.shape.Channels, a.Source.ID())
}

func (a *adapted) Example(n int, pixels []uint8) (label int) {
	area := a.shape.Height * a.shape.Width
	if a.shape.Channels > 1 {
		label = a.Source.Example(n, pixels[:area])
		for done := area; done < len(pixels); done += area {
			copy(pixels[done:], pixels[:area])
		}
		return label
	}
	whole := a.scratch.Get()
	if *whole == nil {
		*whole = make([]uint8, a.Source.Shape().Elements())
	}
	label = a.Source.Example(n, *whole)
	average(pixels, *whole)
	a.scratch.Put(whole)
	return label
}

// average writes the mean of the channels of whole: (C, H, W) to mean: (H, W).
func average(mean, whole []uint8) {
	area := len(mean)
	channels := len(whole) / area
	for i := range mean {
		sum := channels / 2
		for c := range channels {
			sum += int(whole[c*area+i])
		}
		mean[i] = uint8(sum / channels)
	}
}
