package images

import (
	"math"
	"runtime"
	"sync"
)

// sums are exact, so that they do not depend on the order of the images.
type sums struct{ count, values, squares uint64 }

func (s *sums) add(pixels []uint8) {
	for _, v := range pixels {
		s.values += uint64(v)
		s.squares += uint64(v) * uint64(v)
	}
	s.count += uint64(len(pixels))
}

// MeasureNormalization returns the mean and the deviation (with divisor N) of
// each channel over all images of a source, which should be what a model trains
// on. A channel of one value only has deviation 1. The images are read by
// several goroutines; the result is the same for any number. A source without
// images is an error of kind [ErrEmpty].
func MeasureNormalization(source Source) (Normalization, error) {
	if source.Len() < 1 {
		return Normalization{}, &Error{Kind: ErrEmpty, Field: source.ID(), Want: "at least 1 image", Found: "without images"}
	}
	shape := source.Shape()
	workers := min(runtime.GOMAXPROCS(0), source.Len())
	parts := make([][]sums, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() { parts[w] = measure(source, w, workers) })
	}
	wg.Wait()
	n := Normalization{Mean: make([]float32, shape.Channels), Std: make([]float32, shape.Channels)}
	for c := range shape.Channels {
		var total sums
		for _, part := range parts {
			total.count += part[c].count
			total.values += part[c].values
			total.squares += part[c].squares
		}
		n.Mean[c], n.Std[c] = total.statistics()
	}
	return n, nil
}

// measure sums every workers-th image from number first on, channel by channel.
func measure(source Source, first, workers int) []sums {
	shape := source.Shape()
	area := shape.Height * shape.Width
	pixels := make([]uint8, shape.Elements())
	channels := make([]sums, shape.Channels)
	for n := first; n < source.Len(); n += workers {
		source.Example(n, pixels)
		for c := range channels {
			channels[c].add(pixels[c*area : (c+1)*area])
		}
	}
	return channels
}

// statistics returns mean and deviation in units of the largest pixel value.
func (s sums) statistics() (mean, std float32) {
	m := float64(s.values) / float64(s.count)
	// The conversion keeps the product from being joined with the difference.
	variance := float64(s.squares)/float64(s.count) - float64(m*m)
	if variance <= 0 {
		return float32(m / 255), 1
	}
	return float32(m / 255), float32(math.Sqrt(variance) / 255)
}
