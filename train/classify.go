package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/stria-ml/stria/datasets/images"
)

// ClassifyRequest asks what images show.
type ClassifyRequest struct {
	ModelSource          // Tokenizer, Heads and Rotary are not used
	Images      []string // PNG, JPEG or GIF files
	Top         int      // how many classes for each; 0 for 5
	Channels    int      // the model's: grey is repeated to them, colours are averaged; 0 refuses others
}

// Classification is what an image was taken for.
type Classification struct {
	Image   string        `json:"image"`
	Classes []Probability `json:"classes"` // the likeliest first
}

// Probability is a class's, of 1 for all together.
type Probability struct {
	Class       string  `json:"class"`
	Probability float64 `json:"probability"`
}

// defaultTop is how many classes are named unless told otherwise.
const defaultTop = 5

// Check returns what is wrong with the choices themselves.
func (r ClassifyRequest) Check() error { return r.CheckNamed(asKey) }

// CheckNamed is Check for a reader who knows the choices by other names, such as
// flags.
func (r ClassifyRequest) CheckNamed(name func(key string) string) error {
	c := &checker{name: name}
	c.between("top", int64(r.Top), 0, math.MaxInt32)
	c.between("channels", int64(r.Channels), 0, 1024)
	if len(r.Images) == 0 {
		c.failf("there is no image to classify")
	}
	for i, path := range r.Images {
		if path == "" {
			c.failf("the path of image %d is empty", i+1)
		}
	}
	r.check(c)
	return c.err()
}

// Classify says what each image shows, by a stored vision transformer. An image
// is scaled until it just covers the model's size, and cut at its centre.
func Classify(ctx context.Context, r ClassifyRequest) ([]Classification, error) {
	m, err := r.openViT()
	if err != nil {
		return nil, err
	}
	config := m.model.Config
	if r.Channels != 0 && r.Channels != config.NumChannels {
		return nil, fmt.Errorf("channels is %d, the model in %s has %d", r.Channels, m.dir, config.NumChannels)
	}
	if config.Classes() == 0 {
		return nil, fmt.Errorf("%s: it is a bare model, without a classifier; train one with it as the start", m.dir)
	}
	var list []Classification
	for _, path := range r.Images {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		c, err := r.one(m, path)
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}

// one classifies one image.
func (r ClassifyRequest) one(m *storedViT, path string) (Classification, error) {
	config, rule := m.model.Config, images.SameChannels
	if r.Channels != 0 {
		rule = images.ConvertChannels
	}
	shape := images.Shape{Channels: config.NumChannels, Height: config.ImageSize.Height, Width: config.ImageSize.Width}
	pixels, err := images.DecodeImage(path, shape, rule)
	if err != nil {
		return Classification{}, withChannels(err, config.NumChannels)
	}
	list, err := classify(m.model, m.normalization, pixels, 1)
	if err == nil && !finite(list[0]) {
		err = errNotFinite
	}
	if err != nil {
		return Classification{}, fmt.Errorf("%s: %w", path, err)
	}
	result := Classification{Image: path}
	most := r.Top
	if most == 0 {
		most = defaultTop
	}
	for _, class := range top(list[0], most) {
		result.Classes = append(result.Classes, Probability{config.Labels[class], list[0][class]})
	}
	return result, nil
}

// errNotFinite is what is wrong with a model that answers nothing.
var errNotFinite = errors.New("what the model computes is not finite: its weights are too large, or no numbers")

// finite reports whether all of a softmax are numbers.
func finite(probabilities []float64) bool {
	return !slices.ContainsFunc(probabilities, math.IsNaN)
}

// top returns the numbers of the likeliest classes, at most that many; of equal
// ones the first.
func top(probabilities []float64, most int) []int {
	order := make([]int, len(probabilities))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch pa, pb := probabilities[a], probabilities[b]; {
		case pa > pb:
			return -1
		case pa < pb:
			return 1
		}
		return 0
	})
	return order[:min(most, len(order))]
}
