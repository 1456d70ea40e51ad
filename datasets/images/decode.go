package images

import (
	"fmt"
	"image"
	"image/color"
	_ "image/gif"  // a format of image.Decode
	_ "image/jpeg" // likewise
	_ "image/png"  // likewise
	"io"
	"os"
	"strconv"
	"sync"

	"golang.org/x/image/draw"
)

const (
	// DefaultMaxPixels is the size of the largest image that is decoded where
	// the config does not say: 2^25 pixels, 33.5 million.
	DefaultMaxPixels = 1 << 25

	mostTarget   = 4096    // rows and columns of the shape
	mostSide     = 1 << 15 // rows and columns of a file's image
	mostEnlarged = 4       // times that an image is enlarged
	manyPixels   = 1 << 22 // images of more are decoded one at a time
)

// ChannelRule says what becomes of images whose number of channels is not the
// wanted one.
type ChannelRule int

const (
	// SameChannels refuses them.
	SameChannels ChannelRule = iota

	// ConvertChannels repeats grey as red, green and blue, and averages colours
	// to grey.
	ConvertChannels
)

// DecodeImage reads one PNG, JPEG or GIF file (of which the first frame) as
// pixels: (C, H, W). The image is scaled, bilinearly over as many pixels as
// merge into one, so that it just covers the shape, and cut to it at its centre.
// What is transparent is black. Orientation tags of cameras are not heeded.
//
// An image is grey where its file holds grey levels without transparency, or a
// palette of nothing but greys; grey into 3 channels, or colour into 1, is an
// error of kind [ErrChannels] unless the rule converts. Images of more than
// DefaultMaxPixels are [ErrTooLarge]; those that would be enlarged more than
// four times are [ErrTooSmall]; what cannot be decoded is [ErrDecode]. Sizes are
// checked before anything is decoded.
func DecodeImage(path string, shape Shape, rule ChannelRule) (pixels []uint8, err error) {
	d, err := newDecoder(shape, rule, 0)
	if err != nil {
		return nil, err
	}
	pixels = make([]uint8, shape.Elements())
	if err := d.decodeFile(path, pixels); err != nil {
		return nil, err
	}
	return pixels, nil
}

// decoder brings image files to one shape. It serves several goroutines.
type decoder struct {
	shape     Shape
	rule      ChannelRule
	maxPixels int64
	large     sync.Mutex // held over images of many pixels, to bound the memory
}

func newDecoder(shape Shape, rule ChannelRule, maxPixels int64) (*decoder, error) {
	if err := shape.check(); err != nil {
		return nil, err
	}
	switch {
	case shape.Channels != 1 && shape.Channels != 3:
		return nil, &Error{Kind: ErrChannels, Field: "number of channels of the shape", Want: "1 or 3", Found: strconv.Itoa(shape.Channels)}
	case max(shape.Height, shape.Width) > mostTarget:
		return nil, &Error{Kind: ErrTooLarge, Field: "image shape", Want: fmt.Sprintf("at most %d rows and columns", mostTarget), Found: shape.String()}
	case rule != SameChannels && rule != ConvertChannels:
		return nil, &Error{Kind: ErrConfig, Field: "channel rule", Want: "SameChannels or ConvertChannels", Found: strconv.Itoa(int(rule))}
	case maxPixels < 0:
		return nil, &Error{Kind: ErrConfig, Field: "limit of pixels", Want: "at least 0", Found: strconv.FormatInt(maxPixels, 10)}
	case maxPixels == 0:
		maxPixels = DefaultMaxPixels
	}
	return &decoder{shape: shape, rule: rule, maxPixels: maxPixels}, nil
}

func (d *decoder) decodeFile(path string, pixels []uint8) error {
	if err := checkRegular(path); err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return &Error{Kind: ErrOpen, File: path, Err: cause(err)}
	}
	defer f.Close()
	return d.decode(path, f, pixels)
}

// decode writes the image that r holds to pixels: (C, H, W).
func (d *decoder) decode(path string, r io.ReadSeeker, pixels []uint8) error {
	config, _, err := image.DecodeConfig(r)
	if err != nil {
		return decodeError(path, err)
	}
	if err := d.checkSize(path, config.Width, config.Height); err != nil {
		return err
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return &Error{Kind: ErrOpen, File: path, Err: cause(err)}
	}
	if config.Width*config.Height > manyPixels {
		d.large.Lock()
		defer d.large.Unlock()
	}
	img, _, err := image.Decode(r)
	if err != nil {
		return decodeError(path, err)
	}
	// A frame of a GIF may be smaller than the file's image.
	if err := d.checkSize(path, img.Bounds().Dx(), img.Bounds().Dy()); err != nil {
		return err
	}
	if found := channelsOf(img); found != d.shape.Channels && d.rule == SameChannels {
		return &Error{
			Kind: ErrChannels, File: path, Field: "number of channels",
			Want: strconv.Itoa(d.shape.Channels), Found: strconv.Itoa(found),
		}
	}
	fit(pixels, d.shape, img)
	return nil
}

func decodeError(path string, err error) error {
	return &Error{Kind: ErrDecode, File: path, Err: cause(err)}
}

// checkSize refuses images that are too large to decode or too small to use.
func (d *decoder) checkSize(path string, width, height int) error {
	e := &Error{Kind: ErrTooLarge, File: path, Field: "size of the image", Found: fmt.Sprintf("%dx%d", width, height)}
	leastWidth, leastHeight := ceilDiv(d.shape.Width, mostEnlarged), ceilDiv(d.shape.Height, mostEnlarged)
	switch {
	case width < leastWidth || height < leastHeight:
		e.Kind = ErrTooSmall
		e.Want = fmt.Sprintf("at least %dx%d for %dx%d", leastWidth, leastHeight, d.shape.Width, d.shape.Height)
	case width > mostSide || height > mostSide:
		e.Want = fmt.Sprintf("at most %d in either direction", mostSide)
	case int64(width)*int64(height) > d.maxPixels:
		e.Want = fmt.Sprintf("at most %d pixels", d.maxPixels)
	default:
		return nil
	}
	return e
}

func ceilDiv(n, d int) int { return (n + d - 1) / d }

// channelsOf returns 1 for what is grey and 3 for all else.
func channelsOf(img image.Image) int {
	switch img := img.(type) {
	case *image.Gray, *image.Gray16:
		return 1
	case *image.Paletted:
		for _, c := range img.Palette {
			if r, g, b, a := c.RGBA(); r != g || g != b || a != 0xffff {
				return 3
			}
		}
		return 1
	}
	return 3
}

// fit scales the centre of an image to pixels: (C, H, W).
func fit(pixels []uint8, shape Shape, img image.Image) {
	scaled := image.NewRGBA(image.Rect(0, 0, shape.Width, shape.Height))
	draw.BiLinear.Scale(scaled, scaled.Rect, img, centre(img.Bounds(), shape), draw.Src, nil)
	area := shape.Height * shape.Width
	for i := range area {
		c := color.RGBA{scaled.Pix[4*i], scaled.Pix[4*i+1], scaled.Pix[4*i+2], 0}
		if shape.Channels == 1 {
			pixels[i] = uint8((int(c.R) + int(c.G) + int(c.B) + 1) / 3)
			continue
		}
		pixels[i], pixels[area+i], pixels[2*area+i] = c.R, c.G, c.B
	}
}

// centre returns the largest rectangle of the shape's proportions, to the
// nearest pixel, at the centre of bounds.
func centre(bounds image.Rectangle, shape Shape) image.Rectangle {
	width, height := int64(bounds.Dx()), int64(bounds.Dy())
	w, h := int64(shape.Width), int64(shape.Height)
	if width*h > height*w {
		width = max((height*w+h/2)/h, 1)
	} else {
		height = max((width*h+w/2)/w, 1)
	}
	corner := bounds.Min.Add(image.Pt((bounds.Dx()-int(width))/2, (bounds.Dy()-int(height))/2))
	return image.Rectangle{Min: corner, Max: corner.Add(image.Pt(int(width), int(height)))}
}
