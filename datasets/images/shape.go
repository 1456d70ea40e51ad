package images

import (
	"fmt"
	"math"
)

// Shape is the size of an image: (C, H, W).
type Shape struct{ Channels, Height, Width int }

// Elements returns the number of values in an image, C·H·W.
func (s Shape) Elements() int { return s.Channels * s.Height * s.Width }

// String returns the shape as "3x32x32", channels first.
func (s Shape) String() string { return fmt.Sprintf("%dx%dx%d", s.Channels, s.Height, s.Width) }

// check refuses sizes below 1, and images with more values than an int32 counts.
func (s Shape) check() error {
	if s.Channels < 1 || s.Height < 1 || s.Width < 1 {
		return &Error{Kind: ErrTooSmall, Field: "image shape", Want: "at least 1 in every dimension", Found: s.String()}
	}
	left := math.MaxInt32
	for _, n := range []int{s.Channels, s.Height, s.Width} {
		left /= n
	}
	if left < 1 {
		return &Error{Kind: ErrTooLarge, Field: "image shape", Want: "at most 2147483647 values", Found: s.String()}
	}
	return nil
}
