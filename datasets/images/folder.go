package images

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// FolderConfig configures [OpenFolder].
type FolderConfig struct {
	// Shape is what every image is brought to: 1 or 3 channels, and up to 4096
	// rows and columns.
	Shape Shape

	// Channels says what becomes of grey images where Shape has 3 channels, and
	// of coloured ones where it has 1.
	Channels ChannelRule

	// Classes are the names of the labels, as a trained model has them; nil
	// means the names of the folders, sorted. A folder of another name is an
	// error of kind ErrClasses; a class need not have a folder.
	Classes []string

	// MaxBytes limits the size of all images in memory; 0 means DefaultMaxBytes.
	MaxBytes int64

	// MaxPixels limits the size of each image in its file; 0 means
	// DefaultMaxPixels.
	MaxPixels int64
}

// OpenFolder reads a folder that holds a folder of PNG, JPEG or GIF files for
// each class. [DecodeImage] says how an image is brought to the shape. All
// images are read at once, by several goroutines, and kept.
//
// Names that start with a dot are passed over, and so are files beside the class
// folders; links that lead nowhere are an error. In a class folder, what is not an image file (links are followed) is
// an error: data that is left out by mistake should not go unnoticed.
func OpenFolder(dir string, config FolderConfig) (*Set, error) {
	decoder, err := newDecoder(config.Shape, config.Channels, config.MaxPixels)
	if err != nil {
		return nil, err
	}
	most, err := limit(config.MaxBytes)
	if err != nil {
		return nil, err
	}
	classes, folders, err := classFolders(dir, config.Classes)
	if err != nil {
		return nil, err
	}
	var paths []string
	var labels []int32
	for _, folder := range folders {
		found, err := imageFiles(folder.path)
		if err != nil {
			return nil, err
		}
		paths = append(paths, found...)
		labels = append(labels, slices.Repeat([]int32{int32(folder.label)}, len(found))...)
	}
	size := config.Shape.Elements()
	if int64(len(paths)) > most/int64(size) {
		return nil, &Error{
			Kind: ErrTooLarge, File: dir, Field: "memory for its images", Want: fmt.Sprintf("at most %d bytes", most),
			Found: fmt.Sprintf("that of %d images of %s", len(paths), config.Shape),
		}
	}
	pixels := make([]uint8, len(paths)*size)
	if err := decoder.decodeAll(paths, pixels); err != nil {
		return nil, err
	}
	return makeSet("folder", config.Shape, classes, pixels, labels)
}

// classFolder is the folder of one class.
type classFolder struct {
	path  string
	label int
}

// classFolders finds the class folders and gives them their labels. Without
// wanted names the classes are those of the folders.
func classFolders(dir string, wanted []string) (classes []string, folders []classFolder, err error) {
	if err := checkFolder(dir); err != nil {
		return nil, nil, err
	}
	entries, err := os.ReadDir(dir) // sorted by name
	if err != nil {
		return nil, nil, &Error{Kind: ErrOpen, File: dir, Err: cause(err)}
	}
	for _, entry := range entries {
		name, path := entry.Name(), filepath.Join(dir, entry.Name())
		if strings.HasPrefix(name, ".") {
			continue
		}
		if class, err := isClassFolder(path); err != nil {
			return nil, nil, err
		} else if !class {
			continue
		}
		label := len(classes)
		if wanted == nil {
			classes = append(classes, name)
		} else if label = slices.Index(wanted, name); label < 0 {
			return nil, nil, &Error{
				Kind: ErrClasses, File: path, Field: "name of a class folder",
				Want: "one of " + someNames(wanted), Found: strconv.Quote(name),
			}
		}
		folders = append(folders, classFolder{path, label})
	}
	if len(folders) == 0 {
		return nil, nil, &Error{Kind: ErrEmpty, File: dir, Field: "number of class folders", Want: "at least 1", Found: "0"}
	}
	if wanted != nil {
		classes = wanted
	}
	return classes, folders, nil
}

// isClassFolder reports whether a path, which is in the folder of them, is the
// folder of a class. It refuses what may have been meant as one: a link that
// leads nowhere, a name that cannot be stored with a model, an image.
func isClassFolder(path string) (bool, error) {
	info, err := os.Stat(path)
	name := filepath.Base(path)
	switch {
	case err != nil:
		return false, &Error{Kind: ErrOpen, File: path, Err: cause(err)}
	case info.IsDir() && !utf8.ValidString(name):
		return false, &Error{Kind: ErrClasses, File: path, Field: "name of a class folder", Want: "UTF-8", Found: strconv.Quote(name)}
	case !info.IsDir() && isImageName(name):
		return false, &Error{Kind: ErrClasses, File: path, Field: "its place", Want: "the folder of a class", Found: "beside the folders"}
	}
	return info.IsDir(), nil
}

// someNames lists names for a message, the first ten at most.
func someNames(names []string) string {
	quoted := make([]string, 0, 10)
	for _, name := range names[:min(len(names), 10)] {
		quoted = append(quoted, strconv.Quote(name))
	}
	text := strings.Join(quoted, ", ")
	if len(names) > 10 {
		text += fmt.Sprintf(" and %d more", len(names)-10)
	}
	return text
}

// imageFiles lists the images of a class folder, sorted by name.
func imageFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, &Error{Kind: ErrOpen, File: dir, Err: cause(err)}
	}
	var paths []string
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		if strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		if err := checkRegular(path); err != nil {
			return nil, err
		}
		if !isImageName(entry.Name()) {
			return nil, &Error{
				Kind: ErrFormat, File: path, Field: "extension",
				Want: ".png, .jpg, .jpeg or .gif", Found: strconv.Quote(filepath.Ext(entry.Name())),
			}
		}
		paths = append(paths, path)
	}
	if len(paths) == 0 {
		return nil, &Error{Kind: ErrEmpty, File: dir, Field: "number of images", Want: "at least 1", Found: "0"}
	}
	return paths, nil
}

func isImageName(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".png", ".jpg", ".jpeg", ".gif":
		return true
	}
	return false
}

// decodeAll decodes files into pixels: (N, C, H, W). Files are taken in order, so
// that of several bad ones the first is always the one that is reported.
func (d *decoder) decodeAll(paths []string, pixels []uint8) error {
	size := d.shape.Elements()
	failures := make([]error, len(paths))
	var next atomic.Int64
	var failed atomic.Bool
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(paths)) {
		wg.Go(func() {
			for !failed.Load() {
				n := int(next.Add(1)) - 1
				if n >= len(paths) {
					return
				}
				if failures[n] = d.decodeFile(paths[n], pixels[n*size:(n+1)*size]); failures[n] != nil {
					failed.Store(true)
				}
			}
		})
	}
	wg.Wait()
	for _, err := range failures {
		if err != nil {
			return err
		}
	}
	return nil
}
