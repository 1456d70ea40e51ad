package images

// ChannelRule says what becomes of images whose number of channels is not the
// wanted one.
type ChannelRule int

const (
	// SameChannels refuses them.
	SameChannels ChannelRule = iota

	// ConvertChannels repeats grey to red, green and blue, and averages colours
	// to grey.
	ConvertChannels
)

// FolderConfig configures [OpenFolder].
type FolderConfig struct {
	// Shape is what every image is brought to; 1 or 3 channels.
	Shape Shape

	// Channels says what becomes of grey images where Shape has 3 channels, and
	// of coloured ones where it has 1.
	Channels ChannelRule

	// Classes are the names of the labels, as a trained model has them; nil
	// means the names of the folders, sorted. A folder of another name is an
	// error of kind ErrClasses. A class without a folder is none.
	Classes []string

	// MaxBytes limits the size of the images in memory; 0 means DefaultMaxBytes.
	MaxBytes int64
}

// OpenFolder reads a folder that holds a folder of PNG, JPEG or GIF files for
// each class. Every image is scaled so that it just covers the shape, and cut to
// it at its centre.
func OpenFolder(dir string, config FolderConfig) (*Set, error) {
	return nil, &Error{Kind: ErrFormat, File: dir}
}

// DecodeImage reads one PNG, JPEG or GIF file into pixels: (C, H, W), as
// [OpenFolder] does.
func DecodeImage(path string, shape Shape, rule ChannelRule) (pixels []uint8, err error) {
	return nil, &Error{Kind: ErrFormat, File: path}
}
