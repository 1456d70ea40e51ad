package images

import (
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// bad is data that is refused: open gets an empty folder and writes into it what
// it then opens.
type bad struct {
	name string
	kind Kind
	want string // a part of the message, beside the file
	open func(t *testing.T, dir string) error
}

// pair opens two IDX files of the given contents.
func pair(images, labels []byte, config IDXConfig) func(*testing.T, string) error {
	return func(t *testing.T, dir string) error {
		_, err := OpenIDX(write(t, dir, "images", images), write(t, dir, "labels", labels), config)
		return err
	}
}

// corrupt returns data with one byte changed.
func corrupt(data []byte, at int) []byte {
	data = append([]byte(nil), data...)
	data[at] ^= 0x55
	return data
}

func TestBadIDX(t *testing.T) {
	refuse(t, []bad{
		{"wrong magic", ErrMagic, "images: wrong magic number: magic number is 0x89504e47, want 0x00000803, of images",
			pair([]byte("\x89PNG\r\n\x1a\n"), twoLabels, IDXConfig{})},
		{"floats", ErrMagic, "is 0x00000d03, want 0x00000803",
			pair(idx(0xd03, []uint32{2, 2, 3}, make([]byte, 48)...), twoLabels, IDXConfig{})},
		{"exchanged", ErrSwapped, "magic number is 0x00000801, of labels, want 0x00000803, of images", pair(twoLabels, twoImages, IDXConfig{})},
		{"images twice", ErrSwapped, "labels: images and labels exchanged: magic number is 0x00000803, of images, want 0x00000801", pair(twoImages, twoImages, IDXConfig{})},
		{"counts differ", ErrCount, "number of labels is 3, want 2, that of the images in",
			pair(twoImages, idx(0x801, []uint32{3}, 1, 2, 3), IDXConfig{})},
		{"label out of range", ErrLabel, "label of image 0 is 4, want 0 to 3", pair(twoImages, twoLabels, IDXConfig{Classes: numbers(4)})},
		{"empty file", ErrTruncated, "length of the magic number is 0 bytes, want 4 bytes", pair(nil, twoLabels, IDXConfig{})},
		{"half a header", ErrTruncated, "length of the header is 7 bytes, want 12 bytes", pair(twoImages[:11], twoLabels, IDXConfig{})},
		{"pixels missing", ErrTruncated, "length of the pixels is 11 bytes, want 12 bytes", pair(twoImages[:27], twoLabels, IDXConfig{})},
		{"labels missing", ErrTruncated, "labels: ends too early: length of the labels is 1 byte, want 2 bytes", pair(twoImages, twoLabels[:9], IDXConfig{})},
		{"bytes after pixels", ErrTrailing, "what follows the data is 2 bytes, want nothing", pair(append(twoImages[:28:28], 0, 0), twoLabels, IDXConfig{})},
		{"bytes after labels", ErrTrailing, "labels: bytes after the end", pair(twoImages, append(twoLabels[:10:10], 0), IDXConfig{})},
		{"pixels missing, compressed", ErrTruncated, "length of the pixels is 11 bytes, want 12 bytes", pair(zipped(twoImages[:27]), twoLabels, IDXConfig{})},
		{"bytes after compressed pixels", ErrTrailing, "at least 1 byte", pair(zipped(append(twoImages[:28:28], 0, 0)), twoLabels, IDXConfig{})},
		{"bytes after the compressed stream", ErrTrailing, "what follows the compressed data", pair(append(zipped(twoImages), "more than ten bytes"...), twoLabels, IDXConfig{})},
		{"compressed stream cut", ErrTruncated, "pixels", pair(zipped(twoImages)[:30], twoLabels, IDXConfig{})},
		{"wrong sum", ErrFormat, "checksum", pair(corrupt(zipped(twoImages), len(zipped(twoImages))-8), twoLabels, IDXConfig{})},
		{"damaged gzip header", ErrFormat, "gzip header", pair(corrupt(zipped(twoImages), 2), twoLabels, IDXConfig{})},
		{"no images", ErrEmpty, "number of images is 0", pair(idx(0x803, []uint32{0, 2, 3}), idx(0x801, []uint32{0}), IDXConfig{})},
		{"no rows", ErrTooSmall, "size of the images is 2 of 0x3", pair(idx(0x803, []uint32{2, 0, 3}), twoLabels, IDXConfig{})},
		{"absurd sizes", ErrTooLarge, "is 4294967295 of 4294967295x4294967295",
			pair(idx(0x803, []uint32{math.MaxUint32, math.MaxUint32, math.MaxUint32}), idx(0x801, []uint32{math.MaxUint32}), IDXConfig{})},
		{"sizes whose product overflows to 0", ErrTooLarge, "is 4294967295 of 65536x65536",
			pair(idx(0x803, []uint32{math.MaxUint32, 1 << 16, 1 << 16}), idx(0x801, []uint32{math.MaxUint32}), IDXConfig{})},
		{"absurd sizes, compressed, below the limit", ErrTruncated, "length of the pixels is 0 bytes, want 2000000000 bytes",
			pair(zipped(idx(0x803, []uint32{1, 20000, 100000})), idx(0x801, []uint32{1}, 0), IDXConfig{})},
		{"above a limit", ErrTooLarge, "is 2 of 2x3, want at most 11 bytes", pair(twoImages, twoLabels, IDXConfig{MaxBytes: 11})},
		{"negative limit", ErrConfig, "limit of bytes is -1", pair(twoImages, twoLabels, IDXConfig{MaxBytes: -1})},
		{"repeated class", ErrClasses, `name of class 4 is "a", want another name than that of class 0`,
			pair(twoImages, twoLabels, IDXConfig{Classes: []string{"a", "b", "c", "d", "a"}})},
		{"unnamed class", ErrClasses, `name of class 1 is ""`, pair(twoImages, twoLabels, IDXConfig{Classes: []string{"a", "", "c", "d", "e"}})},
		{"no file", ErrOpen, "no such file", func(t *testing.T, dir string) error {
			_, err := OpenIDX(filepath.Join(dir, "images"), filepath.Join(dir, "labels"), IDXConfig{})
			return err
		}},
		{"a folder", ErrNotRegular, "it is a folder, want a file", func(t *testing.T, dir string) error {
			_, err := OpenIDX(dir, write(t, dir, "labels", twoLabels), IDXConfig{})
			return err
		}},
	})
}

func TestBadMNIST(t *testing.T) {
	refuse(t, []bad{
		{"images missing", ErrOpen, "t10k-images-idx3-ubyte: cannot be read: file does not exist", func(t *testing.T, dir string) error {
			write(t, dir, "t10k-labels-idx1-ubyte", twoLabels)
			_, err := OpenMNIST(dir, Test)
			return err
		}},
		{"labels missing", ErrOpen, "train-labels-idx1-ubyte: cannot be read", func(t *testing.T, dir string) error {
			write(t, dir, "train-images-idx3-ubyte.gz", zipped(twoImages))
			_, err := OpenMNIST(dir, Train)
			return err
		}},
		{"an eleventh digit", ErrLabel, "label of image 1 is 10, want 0 to 9", func(t *testing.T, dir string) error {
			write(t, dir, "train-images-idx3-ubyte", twoImages)
			write(t, dir, "train-labels-idx1-ubyte", idx(0x801, []uint32{2}, 9, 10))
			_, err := OpenMNIST(dir, Train)
			return err
		}},
		{"unknown part", ErrConfig, `part is "val", want train or test`, func(t *testing.T, dir string) error {
			_, err := OpenFashionMNIST(dir, "val")
			return err
		}},
		{"no folder", ErrOpen, "no such file", func(t *testing.T, dir string) error {
			_, err := OpenMNIST(filepath.Join(dir, "none"), Train)
			return err
		}},
		{"a file for a folder", ErrNotRegular, "it is a file, want a folder", func(t *testing.T, dir string) error {
			_, err := OpenMNIST(write(t, dir, "file", nil), Train)
			return err
		}},
	})
}

func TestBadCIFAR(t *testing.T) {
	testBatch := func(data []byte) func(*testing.T, string) error {
		return func(t *testing.T, dir string) error {
			write(t, dir, "test_batch.bin", data)
			_, err := OpenCIFAR10(dir, Test)
			return err
		}
	}
	refuse(t, []bad{
		{"empty", ErrEmpty, "number of records is 0", testBatch(nil)},
		{"half a record", ErrTruncated, "length of record 1 is 3072 bytes, want 3073 bytes", testBatch(append(cifarRecord(0, 1), make([]byte, 3072)...))},
		{"a byte too many", ErrTruncated, "length of record 1 is 1 byte, want 3073 bytes", testBatch(append(cifarRecord(0, 1), 0))},
		{"label out of range", ErrLabel, "label of record 1 is 10, want 0 to 9", testBatch(append(cifarRecord(0, 9), cifarRecord(0, 10)...))},
		{"compressed and cut", ErrTruncated, "records", testBatch(zipped(cifarRecord(0, 1))[:100])},
		{"coarse label out of range", ErrLabel, "coarse label of record 0 is 20, want 0 to 19", func(t *testing.T, dir string) error {
			write(t, dir, "train.bin", cifarRecord(0, 20, 3))
			_, err := OpenCIFAR100(dir, Train)
			return err
		}},
		{"fine label out of range", ErrLabel, "label of record 0 is 100, want 0 to 99", func(t *testing.T, dir string) error {
			write(t, dir, "train.bin", cifarRecord(0, 3, 100))
			_, err := OpenCIFAR100(dir, Train)
			return err
		}},
		{"a batch missing", ErrOpen, "data_batch_2.bin: cannot be read", func(t *testing.T, dir string) error {
			write(t, dir, "data_batch_1.bin", cifarRecord(0, 1))
			_, err := OpenCIFAR10(dir, Train)
			return err
		}},
		{"unknown part", ErrConfig, `part is ""`, func(t *testing.T, dir string) error {
			_, err := OpenCIFAR100(dir, "")
			return err
		}},
		{"above the limit", ErrTooLarge, "length of the records is 3073 bytes, want at most 3000 bytes", limited(cifarRecord(0, 1))},
		{"above the limit, compressed", ErrTooLarge, "length of the records is more than 3000 bytes, want at most 3000 bytes", limited(zipped(cifarRecord(0, 1)))},
	})
}

// limited reads a batch within 3000 bytes.
func limited(batch []byte) func(*testing.T, string) error {
	return func(t *testing.T, dir string) error {
		small := cifar10
		small.maxBytes = 3000
		return small.readFile(write(t, dir, "test_batch.bin", batch), &records{})
	}
}

func TestBadFolders(t *testing.T) {
	good := encode(t, "png", plain(8, 8, color.RGBA{1, 2, 3, 255}))
	// folder opens what is written as images of 3x8x8, but for the changes.
	folder := func(files map[string][]byte, change func(*FolderConfig)) func(*testing.T, string) error {
		return func(t *testing.T, dir string) error {
			for name, data := range files {
				write(t, dir, name, data)
			}
			config := FolderConfig{Shape: Shape{3, 8, 8}}
			if change != nil {
				change(&config)
			}
			_, err := OpenFolder(dir, config)
			return err
		}
	}
	shape := func(s Shape) func(*FolderConfig) { return func(c *FolderConfig) { c.Shape = s } }
	two := map[string][]byte{"a/1.png": good, "b/1.png": good}
	refuse(t, []bad{
		{"empty", ErrEmpty, "number of class folders is 0", folder(nil, nil)},
		{"only files", ErrEmpty, "number of class folders is 0", folder(map[string][]byte{"labels.txt": nil}, nil)},
		{"empty class", ErrEmpty, "number of images is 0", func(t *testing.T, dir string) error {
			if err := os.Mkdir(filepath.Join(dir, "b"), 0o755); err != nil {
				t.Fatal(err)
			}
			return folder(map[string][]byte{"a/1.png": good}, nil)(t, dir)
		}},
		{"image beside the folders", ErrClasses, "1.png: wrong classes: its place", folder(map[string][]byte{"1.png": good, "a/1.png": good}, nil)},
		{"folder in a class", ErrNotRegular, "deep: wrong kind of file: it is a folder", folder(map[string][]byte{"a/deep/1.png": good}, nil)},
		{"no image's name", ErrFormat, `notes.txt: unknown format: extension is ".txt"`, folder(map[string][]byte{"a/notes.txt": nil}, nil)},
		{"unknown class", ErrClasses, `b: wrong classes: name of a class folder is "b", want one of "a", "c"`,
			folder(two, func(c *FolderConfig) { c.Classes = []string{"a", "c"} })},
		{"class twice", ErrClasses, "another name", folder(two, func(c *FolderConfig) { c.Classes = []string{"a", "b", "a"} })},
		{"not an image", ErrDecode, "1.png: cannot be decoded: image: unknown format", folder(map[string][]byte{"a/1.png": []byte("no picture at all")}, nil)},
		{"empty image", ErrDecode, "1.gif: cannot be decoded", folder(map[string][]byte{"a/1.gif": nil}, nil)},
		{"cut image", ErrDecode, "1.png: cannot be decoded: png: invalid format: unexpected EOF", folder(map[string][]byte{"a/1.png": good[:len(good)-20]}, nil)},
		{"damaged image", ErrDecode, "1.png: cannot be decoded", folder(map[string][]byte{"a/1.png": corrupt(good, 45)}, nil)},
		{"too small", ErrTooSmall, "size of the image is 8x8, want at least 9x9 for 33x33", folder(two, shape(Shape{3, 33, 33}))},
		{"too many pixels", ErrTooLarge, "size of the image is 8x8, want at most 63 pixels", folder(two, func(c *FolderConfig) { c.MaxPixels = 63 })},
		{"too wide", ErrTooLarge, "size of the image is 32769x1, want at most 32768 in either direction",
			folder(map[string][]byte{"a/1.png": encode(t, "png", image.NewGray(image.Rect(0, 0, 32769, 1)))}, shape(Shape{1, 1, 1}))},
		{"size that is only said", ErrTooLarge, "size of the image is 1048576x1048576", folder(map[string][]byte{"a/1.png": boast(good)}, nil)},
		{"grey into colour", ErrChannels, "number of channels is 1, want 3", folder(map[string][]byte{"a/1.png": encode(t, "png", grey(8, count(0, 64)...))}, nil)},
		{"colour into grey", ErrChannels, "number of channels is 3, want 1", folder(two, shape(Shape{1, 8, 8}))},
		{"memory", ErrTooLarge, "memory for its images is that of 2 images of 3x8x8, want at most 383 bytes", folder(two, func(c *FolderConfig) { c.MaxBytes = 383 })},
		{"two channels", ErrChannels, "number of channels of the shape is 2", folder(two, shape(Shape{2, 8, 8}))},
		{"shape of nothing", ErrTooSmall, "image shape is 3x0x8", folder(two, shape(Shape{3, 0, 8}))},
		{"large shape", ErrTooLarge, "at most 4096 rows and columns", folder(two, shape(Shape{3, 4097, 8}))},
		{"absurd shape", ErrTooLarge, "want at most 2147483647 values", folder(two, shape(Shape{3, math.MaxInt32, math.MaxInt32}))},
		{"unknown rule", ErrConfig, "channel rule is 7", folder(two, func(c *FolderConfig) { c.Channels = 7 })},
		{"negative limit", ErrConfig, "limit of pixels is -2", folder(two, func(c *FolderConfig) { c.MaxPixels = -2 })},
		{"no folder", ErrOpen, "no such file", func(t *testing.T, dir string) error {
			_, err := OpenFolder(filepath.Join(dir, "none"), FolderConfig{Shape: Shape{3, 8, 8}})
			return err
		}},
		{"link to nothing", ErrOpen, "1.png: cannot be read", func(t *testing.T, dir string) error {
			write(t, dir, "a/0.png", good)
			link(t, filepath.Join(dir, "gone"), filepath.Join(dir, "a", "1.png"))
			return folder(nil, nil)(t, dir)
		}},
		{"class that is a link to nothing", ErrOpen, "b: cannot be read", func(t *testing.T, dir string) error {
			link(t, filepath.Join(dir, "gone"), filepath.Join(dir, "b"))
			return folder(map[string][]byte{"a/1.png": good}, nil)(t, dir)
		}},
		{"class that is a link to itself", ErrOpen, "b: cannot be read", func(t *testing.T, dir string) error {
			link(t, "b", filepath.Join(dir, "b"))
			return folder(map[string][]byte{"a/1.png": good}, nil)(t, dir)
		}},
		{"class of no text", ErrClasses, `b\xff": wrong classes: name of a class folder is "b\xff", want UTF-8`, func(t *testing.T, dir string) error {
			if err := os.Mkdir(filepath.Join(dir, "b\xff"), 0o755); err != nil {
				t.Skip(err)
			}
			return folder(map[string][]byte{"a/1.png": good}, nil)(t, dir)
		}},
		{"name that would clear a terminal", ErrDecode, `\x1b[2J.png": cannot be decoded`, folder(map[string][]byte{"a/\x1b[2J.png": nil}, nil)},
		{"link to a folder", ErrNotRegular, "1.png: wrong kind of file: it is a folder", func(t *testing.T, dir string) error {
			write(t, dir, "a/0.png", good)
			link(t, dir, filepath.Join(dir, "a", "1.png"))
			return folder(nil, nil)(t, dir)
		}},
	})
}

func link(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Skip(err)
	}
}

// boast returns a PNG file whose header gives its size as 1048576x1048576.
func boast(file []byte) []byte {
	file = append([]byte(nil), file...)
	binary.BigEndian.PutUint32(file[16:], 1<<20)
	binary.BigEndian.PutUint32(file[20:], 1<<20)
	binary.BigEndian.PutUint32(file[29:], crc32.ChecksumIEEE(file[12:29])) // of the first chunk
	return file
}

func refuse(t *testing.T, rows []bad) {
	t.Helper()
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			err := row.open(t, dir)
			e := wantKind(t, err, row.kind)
			if !strings.Contains(err.Error(), row.want) {
				t.Errorf("error %v, want one with %q", err, row.want)
			}
			if e.File != "" && !strings.HasPrefix(e.File, dir) {
				t.Errorf("the error names %s", e.File)
			}
		})
	}
}
