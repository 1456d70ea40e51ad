package images

// IgnoreIndex is the label of a row that does not count: what fills the last
// batch of a [Pass]. It is PyTorch's default for cross-entropy.
const IgnoreIndex = -100

// Source is a numbered list of labelled images of one shape. A Source is
// immutable and may be shared between goroutines.
type Source interface {
	// ID describes the data well enough that sources with equal IDs hold the
	// same images. Saved positions are checked against it.
	ID() string

	// Len is the number of images.
	Len() int

	// Shape is the size of every image.
	Shape() Shape

	// Classes are the names of the labels: label l is Classes()[l]. The slice
	// is not to be written to.
	Classes() []string

	// Example writes image n, with 0 <= n < Len(), over all of
	// pixels: (C, H, W) and returns its label. It allocates nothing.
	Example(n int, pixels []uint8) (label int)
}

// Part is a part of a data set as its authors divided it.
type Part string

// The parts.
const (
	Train Part = "train"
	Test  Part = "test"
)
