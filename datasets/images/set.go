package images

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
)

// Set is labelled images in memory.
type Set struct {
	id      string
	shape   Shape
	classes []string
	pixels  []uint8 // (N, C, H, W)
	labels  []int32 // (N)
}

// NewSet returns the images of pixels: (N, C, H, W) with labels: (N), of which
// it keeps the pixels without a copy. The name is part of the ID. Slices whose
// lengths disagree are an error of kind [ErrCount], a label that is no class is
// [ErrLabel], class names that are empty or repeat are [ErrClasses].
func NewSet(name string, shape Shape, classes []string, pixels []uint8, labels []int) (*Set, error) {
	own := make([]int32, len(labels))
	for n, label := range labels {
		if label < 0 || label >= len(classes) {
			return nil, labelError("", n, label, len(classes))
		}
		own[n] = int32(label)
	}
	return makeSet(name, shape, classes, pixels, own)
}

// makeSet keeps labels as well, all of which are those of classes.
func makeSet(name string, shape Shape, classes []string, pixels []uint8, labels []int32) (*Set, error) {
	if err := shape.check(); err != nil {
		return nil, err
	}
	if err := checkClasses(classes); err != nil {
		return nil, err
	}
	size := shape.Elements()
	if len(pixels)%size != 0 || len(pixels)/size != len(labels) {
		return nil, &Error{
			Kind: ErrCount, Field: "number of pixel values",
			Want: fmt.Sprintf("that of %d images of %s, one a label", len(labels), shape), Found: strconv.Itoa(len(pixels)),
		}
	}
	s := &Set{shape: shape, classes: slices.Clone(classes), pixels: pixels, labels: labels}
	s.id = s.describe(name)
	return s, nil
}

// describe makes the ID, which holds a digest of all that the set holds.
func (s *Set) describe(name string) string {
	h := sha256.New()
	h.Write(s.pixels)
	var word [4]byte
	for _, label := range s.labels {
		binary.LittleEndian.PutUint32(word[:], uint32(label))
		h.Write(word[:])
	}
	for _, class := range s.classes {
		fmt.Fprintf(h, "%q", class)
	}
	return fmt.Sprintf("%s %d of %s classes=%d sha256=%x", name, len(s.labels), s.shape, len(s.classes), h.Sum(nil)[:16])
}

// ID names the set, its sizes and a digest of its images, labels and classes.
func (s *Set) ID() string { return s.id }

// Len returns the number of images.
func (s *Set) Len() int { return len(s.labels) }

// Shape returns the size of every image.
func (s *Set) Shape() Shape { return s.shape }

// Classes returns the names of the labels.
func (s *Set) Classes() []string { return s.classes }

// Example copies image n into pixels: (C, H, W) and returns its label.
func (s *Set) Example(n int, pixels []uint8) (label int) {
	size := s.shape.Elements()
	copy(pixels, s.pixels[n*size:(n+1)*size])
	return int(s.labels[n])
}

// Label returns the label of image n.
func (s *Set) Label(n int) int { return int(s.labels[n]) }

func labelError(file string, n, label, classes int) error {
	return &Error{
		Kind: ErrLabel, File: file, Field: fmt.Sprintf("label of image %d", n),
		Want: fmt.Sprintf("0 to %d", classes-1), Found: strconv.Itoa(label),
	}
}

// checkClasses refuses no names, empty names and names that come twice.
func checkClasses(classes []string) error {
	if len(classes) == 0 {
		return &Error{Kind: ErrClasses, Field: "number of classes", Want: "at least 1", Found: "0"}
	}
	seen := make(map[string]int, len(classes))
	for label, name := range classes {
		if name == "" {
			return &Error{Kind: ErrClasses, Field: fmt.Sprintf("name of class %d", label), Want: "a name", Found: `""`}
		}
		if first, twice := seen[name]; twice {
			return &Error{
				Kind: ErrClasses, Field: fmt.Sprintf("name of class %d", label),
				Want: "another name than that of class " + strconv.Itoa(first), Found: strconv.Quote(name),
			}
		}
		seen[name] = label
	}
	return nil
}
