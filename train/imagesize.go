package train

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/stria-ml/stria/nn"
)

// ImageSize is the height and width of images or patches, 0 by 0 for none given.
// In JSON it is a number where both are the same, or [height, width]; as a text,
// and as a flag, 28 or 28x32.
type ImageSize nn.Size

// SquareImage returns the size of a square.
func SquareImage(side int) ImageSize { return ImageSize{side, side} }

// String returns 28 for a square, or 28x32: height first.
func (s ImageSize) String() string {
	if s.Height == s.Width {
		return strconv.Itoa(s.Height)
	}
	return nn.Size(s).String()
}

// Set reads what String writes.
func (s *ImageSize) Set(text string) error {
	high, wide, both := strings.Cut(text, "x")
	if !both {
		wide = high
	}
	h, errH := strconv.Atoi(high)
	w, errW := strconv.Atoi(wide)
	if errH != nil || errW != nil || h < 0 || w < 0 {
		return fmt.Errorf("want a size such as 28, or 28x32 for height and width")
	}
	*s = ImageSize{h, w}
	return nil
}

// sizeBetween refuses a size either of whose numbers is out of range.
func (c *checker) sizeBetween(key string, s ImageSize, low, high int) {
	if min(s.Height, s.Width) < low || max(s.Height, s.Width) > high {
		c.failf("%s is %v, want %d to %d", c.name(key), s, low, high)
	}
}

// Type is what flags call it.
func (s *ImageSize) Type() string { return "size" }

// MarshalJSON writes a number or a pair.
func (s ImageSize) MarshalJSON() ([]byte, error) {
	if s.Height == s.Width {
		return json.Marshal(s.Height)
	}
	return json.Marshal([2]int{s.Height, s.Width})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *ImageSize) UnmarshalJSON(text []byte) error {
	var side int
	if json.Unmarshal(text, &side) == nil {
		*s = SquareImage(side)
		return nil
	}
	var pair []int
	if err := json.Unmarshal(text, &pair); err != nil || len(pair) != 2 {
		return fmt.Errorf("a size is %s, want a number or [height, width]", text)
	}
	*s = ImageSize{pair[0], pair[1]}
	return nil
}
