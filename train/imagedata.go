package train

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/stria-ml/stria/datasets/images"
)

// ShapesData is the Data of the built-in figures, which code draws.
const ShapesData = "shapes"

// folderData is the kind of data that is a folder of images by class.
const folderData = "folder"

// imageDataHelp says what Data may be.
const imageDataHelp = "shapes, mnist:DIR, fashion:DIR, cifar10:DIR, cifar100:DIR, or a folder of images by class"

// fileSets are the data sets that come in files of their own, by what stands
// before the colon.
var fileSets = map[string]struct {
	normalization string // its name for images.FixedNormalization
	open          func(dir string, part images.Part) (*images.Set, error)
}{
	"mnist":    {"mnist", images.OpenMNIST},
	"fashion":  {"fashion-mnist", images.OpenFashionMNIST},
	"cifar10":  {"cifar10", images.OpenCIFAR10},
	"cifar100": {"cifar100", images.OpenCIFAR100},
}

// imageKind returns the kind and the folder that the name of data says.
func imageKind(data string) (kind, dir string) {
	if data == ShapesData {
		return ShapesData, ""
	}
	if before, after, ok := strings.Cut(data, ":"); ok {
		if _, known := fileSets[before]; known {
			return before, after
		}
	}
	return folderData, data
}

// checkImageData refuses data without a folder, which name is what the reader
// calls it.
func checkImageData(name, data string) error {
	switch kind, dir := imageKind(data); {
	case data == "":
		return fmt.Errorf("%s is empty, want %s", name, imageDataHelp)
	case dir == "" && kind != ShapesData:
		return fmt.Errorf("%s is %s, want a folder behind the colon", name, data)
	}
	return nil
}

// shortName names data without the folders above it.
func shortName(data string) string {
	kind, dir := imageKind(data)
	if kind != folderData {
		return kind
	}
	return filepath.Base(dir)
}

// imageRequest says which images are wanted, and how.
type imageRequest struct {
	data     string
	size     ImageSize // 0 for the data's
	channels int       // that grey is repeated and colours are averaged to; 0 for the data's
	wanted   int       // channels that there must be, without a change; 0 for any
	classes  []string  // that a folder's names must be among; nil for its own
}

// defaultFolderSize is the size of a folder's images where nothing says it.
const defaultFolderSize = 32

// open returns a part of the data.
func (r imageRequest) open(part images.Part) (images.Source, error) {
	source, err := r.openAsIs(part)
	if err != nil {
		return nil, err
	}
	shape := source.Shape()
	if size := (ImageSize{shape.Height, shape.Width}); r.size != (ImageSize{}) && size != r.size {
		return nil, fmt.Errorf("%s: its images have size %v, not image_size %v: only a folder's images are brought to another", r.data, size, r.size)
	}
	if r.channels > 0 {
		return images.AdaptChannels(source, r.channels)
	}
	if r.wanted > 0 {
		if err := images.CheckChannels(source, r.wanted); err != nil {
			return nil, fmt.Errorf("%s: %w", r.data, withChannels(err, r.wanted))
		}
	}
	return source, nil
}

func (r imageRequest) openAsIs(part images.Part) (images.Source, error) {
	kind, dir := imageKind(r.data)
	switch kind {
	case ShapesData:
		return r.openShapes(part)
	case folderData:
		return r.openFolder(part)
	}
	return nonNil(fileSets[kind].open(dir, part))
}

// nonNil keeps a nil *Set from becoming a Source that is not nil.
func nonNil(set *images.Set, err error) (images.Source, error) {
	if err != nil {
		return nil, err
	}
	return set, nil
}

func (r imageRequest) openShapes(part images.Part) (images.Source, error) {
	if r.size.Height != r.size.Width {
		return nil, fmt.Errorf("%s: image_size is %v, want a square", r.data, r.size)
	}
	channels := r.channels
	if channels == 0 {
		channels = r.wanted
	}
	if channels != 1 {
		channels = 3
	}
	shapes, err := images.NewShapes(images.ShapesConfig{Size: r.size.Height, Channels: channels})
	if err != nil {
		return nil, err
	}
	if part == images.Test {
		return shapes.HeldOutSource(), nil
	}
	return shapes.TrainSource(), nil
}

// openFolder opens the folder of a part: DIR/train or DIR/test, or DIR itself to
// train on where it holds no such folders.
func (r imageRequest) openFolder(part images.Part) (images.Source, error) {
	config := images.FolderConfig{Classes: r.classes, Shape: images.Shape{Channels: 3, Height: r.size.Height, Width: r.size.Width}}
	if r.size == (ImageSize{}) {
		config.Shape.Height, config.Shape.Width = defaultFolderSize, defaultFolderSize
	}
	if r.wanted > 0 {
		config.Shape.Channels = r.wanted
	}
	if r.channels > 0 {
		config.Shape.Channels, config.Channels = r.channels, images.ConvertChannels
	}
	dir := r.data
	switch parted := hasParts(dir); {
	case parted:
		dir = filepath.Join(dir, string(part))
	case part != images.Train:
		return nil, fmt.Errorf("%s: it has no folder %s beside a folder %s; without them the whole is %s", dir, images.Test, images.Train, images.Train)
	}
	set, err := images.OpenFolder(dir, config)
	return nonNil(set, withChannels(err, config.Shape.Channels))
}

// withChannels adds to an error about channels what would help.
func withChannels(err error, channels int) error {
	if errors.Is(err, images.ErrChannels) {
		return fmt.Errorf("%w; with channels %d grey is repeated and colours are averaged", err, channels)
	}
	return err
}

// hasParts reports whether a folder is divided into one to train on and one to
// test on.
func hasParts(dir string) bool {
	for _, part := range [...]images.Part{images.Train, images.Test} {
		if info, err := os.Stat(filepath.Join(dir, string(part))); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// customary returns the normalization that is usual for images of the data.
func customary(data string, channels int) images.Normalization {
	kind, _ := imageKind(data)
	if n, err := images.FixedNormalization(fileSets[kind].normalization); err == nil && n.Check(channels) == nil {
		return n
	}
	return images.HalfNormalization(channels)
}
