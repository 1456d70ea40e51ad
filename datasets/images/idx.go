package images

import (
	"encoding/binary"
	"fmt"
	"strconv"
)

// Magic numbers of IDX files of unsigned bytes: two zeros, the type 8, and the
// number of dims. (Y. LeCun, C. Cortes, C. J. C. Burges, "The MNIST database of
// handwritten digits".)
const (
	imagesMagic = 0x00000803
	labelsMagic = 0x00000801
)

// IDXConfig configures [OpenIDX].
type IDXConfig struct {
	// Classes are the names of the labels; nil means "0" up to the largest
	// label that the file holds.
	Classes []string

	// MaxBytes limits the size of the images in memory; 0 means DefaultMaxBytes.
	MaxBytes int64
}

// OpenIDX reads grey images and their labels from a pair of IDX files of
// unsigned bytes, the format of MNIST, plain or compressed by gzip. The images
// have shape (1, H, W).
func OpenIDX(images, labels string, config IDXConfig) (*Set, error) {
	return openIDX("idx", images, labels, config)
}

func openIDX(name, images, labels string, config IDXConfig) (*Set, error) {
	imageFile, err := openBinary(images)
	if err != nil {
		return nil, err
	}
	defer imageFile.close()
	labelFile, err := openBinary(labels)
	if err != nil {
		return nil, err
	}
	defer labelFile.close()
	return readIDX(name, imageFile, labelFile, config)
}

// readIDX checks both headers against the limit and each other before it reads
// what follows them.
func readIDX(name string, images, labels *binaryFile, config IDXConfig) (*Set, error) {
	most, err := limit(config.MaxBytes)
	if err != nil {
		return nil, err
	}
	dims, err := images.idxHeader(imagesMagic, 3)
	if err != nil {
		return nil, err
	}
	if err := checkIDXSize(images.path, dims, most); err != nil {
		return nil, err
	}
	n, shape := int(dims[0]), Shape{1, int(dims[1]), int(dims[2])}
	labelDims, err := labels.idxHeader(labelsMagic, 1)
	if err != nil {
		return nil, err
	}
	if labelDims[0] != dims[0] {
		return nil, &Error{
			Kind: ErrCount, File: labels.path, Field: "number of labels",
			Want:  fmt.Sprintf("%d, that of the images in %s", dims[0], images.path),
			Found: strconv.FormatUint(uint64(labelDims[0]), 10),
		}
	}
	values, err := labels.whole("labels", n)
	if err != nil {
		return nil, err
	}
	classes, err := idxClasses(labels.path, values, config.Classes)
	if err != nil {
		return nil, err
	}
	pixels, err := images.whole("pixels", n*shape.Elements())
	if err != nil {
		return nil, err
	}
	wide := make([]int32, n)
	for i, label := range values {
		wide[i] = int32(label)
	}
	return makeSet(name, shape, classes, pixels, wide)
}

// idxHeader reads the magic number and the extents that follow it.
func (b *binaryFile) idxHeader(magic uint32, dims int) ([]uint32, error) {
	header, err := b.read("magic number", 4)
	if err != nil {
		return nil, err
	}
	if found := binary.BigEndian.Uint32(header); found != magic {
		return nil, magicError(b.path, magic, found)
	}
	extents, err := b.read("header", 4*dims)
	if err != nil {
		return nil, err
	}
	sizes := make([]uint32, dims)
	for i := range sizes {
		sizes[i] = binary.BigEndian.Uint32(extents[4*i:])
	}
	return sizes, nil
}

func magicError(path string, want, found uint32) error {
	names := map[uint32]string{imagesMagic: "images", labelsMagic: "labels"}
	e := &Error{
		Kind: ErrMagic, File: path, Field: "magic number",
		Want: fmt.Sprintf("%#08x, of %s", want, names[want]), Found: fmt.Sprintf("%#08x", found),
	}
	if other, known := names[found]; known {
		e.Kind = ErrSwapped
		e.Found += ", of " + other
	}
	return e
}

// checkIDXSize checks dims: (N, H, W) of the images in a file against the limit.
func checkIDXSize(path string, dims []uint32, most int64) error {
	n, height, width := uint64(dims[0]), uint64(dims[1]), uint64(dims[2])
	found := fmt.Sprintf("%d of %dx%d", n, height, width)
	switch {
	case n == 0:
		return &Error{Kind: ErrEmpty, File: path, Field: "number of images", Want: "at least 1", Found: "0"}
	case height == 0 || width == 0:
		return &Error{Kind: ErrTooSmall, File: path, Field: "size of the images", Want: "at least 1x1", Found: found}
	case height*width > uint64(most) || n > uint64(most)/(height*width):
		return &Error{Kind: ErrTooLarge, File: path, Field: "size of the images", Want: fmt.Sprintf("at most %d bytes", most), Found: found}
	}
	return nil
}

// whole reads the n bytes that end the file.
func (b *binaryFile) whole(field string, n int) ([]byte, error) {
	data, err := b.read(field, n)
	if err != nil {
		return nil, err
	}
	return data, b.end()
}

// idxClasses returns the names of the labels, all of which it checks.
func idxClasses(path string, labels []uint8, names []string) ([]string, error) {
	most := 0
	for n, label := range labels {
		if names != nil && int(label) >= len(names) {
			return nil, labelError(path, n, int(label), len(names))
		}
		most = max(most, int(label))
	}
	if names != nil {
		return names, nil
	}
	return numbers(most + 1), nil
}

// numbers returns "0" to the number before n.
func numbers(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	return names
}
