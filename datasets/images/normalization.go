package images

import (
	"fmt"
	"math"
	"slices"
)

// Normalization makes the model's input of a pixel value v of channel c:
//
//	(v/255 - Mean[c]) / Std[c]
type Normalization struct {
	Mean []float32 `json:"mean"` // (C), in units of the largest pixel value
	Std  []float32 `json:"std"`  // (C), above 0
}

// fixed holds the published statistics of data sets, over their training parts,
// and the convention of the vision transformer's published weights.
var fixed = map[string]Normalization{
	"mnist":         {[]float32{0.1307}, []float32{0.3081}},
	"fashion-mnist": {[]float32{0.2860}, []float32{0.3530}},
	"cifar10":       {[]float32{0.4914, 0.4822, 0.4465}, []float32{0.2470, 0.2435, 0.2616}},
	"cifar100":      {[]float32{0.5071, 0.4865, 0.4409}, []float32{0.2673, 0.2564, 0.2762}},
}

// FixedNormalization returns the customary normalization of a data set: "mnist",
// "fashion-mnist", "cifar10" or "cifar100". Another name is an error of kind
// [ErrConfig].
func FixedNormalization(dataset string) (Normalization, error) {
	n, ok := fixed[dataset]
	if !ok {
		return Normalization{}, &Error{
			Kind: ErrConfig, Field: "data set of the normalization",
			Want: "mnist, fashion-mnist, cifar10 or cifar100", Found: fmt.Sprintf("%q", dataset),
		}
	}
	return Normalization{Mean: slices.Clone(n.Mean), Std: slices.Clone(n.Std)}, nil
}

// HalfNormalization maps the pixel values 0 to 255 to -1 to 1, as the published
// weights of the vision transformer expect.
func HalfNormalization(channels int) Normalization {
	half := slices.Repeat([]float32{0.5}, max(channels, 0))
	return Normalization{Mean: half, Std: slices.Clone(half)}
}

// Check returns an error of kind [ErrConfig] unless there are a finite mean and
// a finite deviation above 0 for each of the channels, and what they make of
// pixels is finite, too.
func (n Normalization) Check(channels int) error {
	if len(n.Mean) != channels || len(n.Std) != channels {
		return &Error{
			Kind: ErrConfig, Field: "normalization", Want: fmt.Sprintf("a mean and a deviation for each of %d channels", channels),
			Found: fmt.Sprintf("of %d means and %d deviations", len(n.Mean), len(n.Std)),
		}
	}
	for c := range channels {
		mean, std := float64(n.Mean[c]), float64(n.Std[c])
		if math.IsNaN(mean) || math.IsInf(mean, 0) || !(std > 0) || math.IsInf(std, 0) {
			return &Error{
				Kind: ErrConfig, Field: fmt.Sprintf("normalization of channel %d", c),
				Want: "finite numbers and a deviation above 0", Found: fmt.Sprintf("mean %v, deviation %v", mean, std),
			}
		}
		if most := max(math.Abs(mean), math.Abs(1-mean)) / std; most > math.MaxFloat32 {
			return &Error{
				Kind: ErrConfig, Field: fmt.Sprintf("normalization of channel %d", c),
				Want: fmt.Sprintf("pixels of at most %.2g", math.MaxFloat32), Found: fmt.Sprintf("mean %v, deviation %v, and pixels of %.2g", mean, std, most),
			}
		}
	}
	return nil
}

// levels is what each pixel value of each channel becomes.
type levels [][256]float32 // (C)

// levels returns the table of a normalization that was checked. The arithmetic
// is that of the formula in float64, rounded once.
func (n Normalization) levels() levels {
	table := make(levels, len(n.Mean))
	for c := range table {
		for v := range table[c] {
			table[c][v] = float32((float64(v)/255 - float64(n.Mean[c])) / float64(n.Std[c]))
		}
	}
	return table
}

// apply writes the normalized image to dst: (C, H, W).
func (t levels) apply(dst []float32, pixels []uint8) {
	area := len(pixels) / len(t)
	for c := range t {
		level := &t[c]
		out := dst[c*area : (c+1)*area]
		for i, v := range pixels[c*area : (c+1)*area] {
			out[i] = level[v]
		}
	}
}

// Apply writes the normalized pixels: (C, H, W) to dst: (C, H, W). A
// normalization that is not of so many channels, or lengths that are no whole
// number of channels or differ, are an error.
func (n Normalization) Apply(dst []float32, pixels []uint8, channels int) error {
	if err := n.Check(channels); err != nil {
		return err
	}
	if len(pixels)%channels != 0 || len(dst) != len(pixels) {
		return &Error{
			Kind: ErrConfig, Field: "image to normalize", Want: fmt.Sprintf("as many values as pixels, of %d channels", channels),
			Found: fmt.Sprintf("%d values and %d pixels", len(dst), len(pixels)),
		}
	}
	n.levels().apply(dst, pixels)
	return nil
}
