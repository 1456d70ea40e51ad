package images

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// The layout of a record in CIFAR's binary versions: one or two labels of a byte
// each, then the pixels as (C, H, W). (A. Krizhevsky, "Learning multiple layers
// of features from tiny images", 2009, and the description beside the files.)
type cifar struct {
	name     string
	folder   string            // the archive's own
	files    map[Part][]string // in the order of their records
	labels   []cifarLabel      // of a record
	classes  []string          // of the last label
	maxBytes int64
}

// cifarLabel is one of a record's labels.
type cifarLabel struct {
	name    string
	classes int
}

var cifarShape = Shape{3, 32, 32}

var cifar10 = cifar{
	name:   "cifar10",
	folder: "cifar-10-batches-bin",
	files: map[Part][]string{
		Train: {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"},
		Test:  {"test_batch.bin"},
	},
	labels:   []cifarLabel{{"label", 10}},
	classes:  []string{"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"},
	maxBytes: DefaultMaxBytes,
}

var cifar100 = cifar{
	name:     "cifar100",
	folder:   "cifar-100-binary",
	files:    map[Part][]string{Train: {"train.bin"}, Test: {"test.bin"}},
	labels:   []cifarLabel{{"coarse label", 20}, {"label", 100}},
	classes:  cifar100Classes,
	maxBytes: DefaultMaxBytes,
}

// OpenCIFAR10 reads CIFAR-10's binary version from the folder that holds
// data_batch_1.bin to data_batch_5.bin and test_batch.bin, or from the folder
// above it: ten classes, shape (3, 32, 32). Only the files of the part need to be
// there.
func OpenCIFAR10(dir string, part Part) (*Set, error) { return cifar10.open(dir, part) }

// OpenCIFAR100 reads CIFAR-100's binary version from the folder that holds
// train.bin and test.bin, or from the folder above it: the hundred fine classes,
// shape (3, 32, 32). Only the file of the part needs to be there.
func OpenCIFAR100(dir string, part Part) (*Set, error) { return cifar100.open(dir, part) }

func (c *cifar) open(dir string, part Part) (*Set, error) {
	if c.files[part] == nil {
		return nil, partError(part)
	}
	if err := checkFolder(dir); err != nil {
		return nil, err
	}
	if inner := filepath.Join(dir, c.folder); isFolder(inner) {
		dir = inner
	}
	var all records
	for _, name := range c.files[part] {
		if err := c.readFile(filepath.Join(dir, name), &all); err != nil {
			return nil, err
		}
	}
	return makeSet(c.name+" "+string(part), cifarShape, c.classes, slices.Clip(all.pixels), all.labels)
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// records is what was read so far.
type records struct {
	pixels []uint8 // (N, C, H, W)
	labels []int32 // (N)
}

func (c *cifar) readFile(path string, all *records) error {
	file, err := openBinary(path)
	if err != nil {
		return err
	}
	defer file.close()
	return c.read(file, all)
}

// read adds the records of a file. A file must hold at least one, and no part of
// another.
func (c *cifar) read(file *binaryFile, all *records) error {
	most := c.maxBytes - int64(len(all.pixels))
	data, err := file.rest("records", most)
	if err != nil {
		return err
	}
	size := len(c.labels) + cifarShape.Elements()
	if len(data) == 0 {
		return &Error{Kind: ErrEmpty, File: file.path, Field: "number of records", Want: "at least 1", Found: "0"}
	}
	if over := len(data) % size; over != 0 {
		return &Error{
			Kind: ErrTruncated, File: file.path, Field: fmt.Sprintf("length of record %d", len(data)/size),
			Want: byteCount(int64(size)), Found: byteCount(int64(over)),
		}
	}
	all.pixels = slices.Grow(all.pixels, len(data)/size*cifarShape.Elements())
	for n := 0; len(data) > 0; n, data = n+1, data[size:] {
		for i, label := range c.labels {
			if int(data[i]) >= label.classes {
				return &Error{
					Kind: ErrLabel, File: file.path, Field: fmt.Sprintf("%s of record %d", label.name, n),
					Want: fmt.Sprintf("0 to %d", label.classes-1), Found: strconv.Itoa(int(data[i])),
				}
			}
		}
		all.labels = append(all.labels, int32(data[len(c.labels)-1]))
		all.pixels = append(all.pixels, data[len(c.labels):size]...)
	}
	return nil
}

// cifar100Classes are the fine classes by label.
var cifar100Classes = []string{
	"apple", "aquarium_fish", "baby", "bear", "beaver", "bed", "bee", "beetle", "bicycle", "bottle",
	"bowl", "boy", "bridge", "bus", "butterfly", "camel", "can", "castle", "caterpillar", "cattle",
	"chair", "chimpanzee", "clock", "cloud", "cockroach", "couch", "crab", "crocodile", "cup", "dinosaur",
	"dolphin", "elephant", "flatfish", "forest", "fox", "girl", "hamster", "house", "kangaroo", "keyboard",
	"lamp", "lawn_mower", "leopard", "lion", "lizard", "lobster", "man", "maple_tree", "motorcycle", "mountain",
	"mouse", "mushroom", "oak_tree", "orange", "orchid", "otter", "palm_tree", "pear", "pickup_truck", "pine_tree",
	"plain", "plate", "poppy", "porcupine", "possum", "rabbit", "raccoon", "ray", "road", "rocket",
	"rose", "sea", "seal", "shark", "shrew", "skunk", "skyscraper", "snail", "snake", "spider",
	"squirrel", "streetcar", "sunflower", "sweet_pepper", "table", "tank", "telephone", "television", "tiger", "tractor",
	"train", "trout", "tulip", "turtle", "wardrobe", "whale", "willow_tree", "wolf", "woman", "worm",
}
