package images

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
)

// DefaultMaxBytes is the most memory that the images of one source take where
// the config does not say: 2 GiB, or what an int counts.
const DefaultMaxBytes = min(2<<30, math.MaxInt)

// limit returns the limit that a config sets.
func limit(maxBytes int64) (int64, error) {
	switch {
	case maxBytes < 0:
		return 0, &Error{Kind: ErrConfig, Field: "limit of bytes", Want: "at least 0", Found: strconv.FormatInt(maxBytes, 10)}
	case maxBytes == 0:
		return DefaultMaxBytes, nil
	}
	return min(maxBytes, math.MaxInt), nil
}

// byteCount writes a length for a message.
func byteCount(n int64) string {
	if n == 1 {
		return "1 byte"
	}
	return strconv.FormatInt(n, 10) + " bytes"
}

// checkRegular refuses what is not a file with contents: a pipe would be waited
// for, and a device may have no end. Links are followed.
func checkRegular(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return &Error{Kind: ErrOpen, File: path, Err: cause(err)}
	case !info.Mode().IsRegular():
		return &Error{Kind: ErrNotRegular, File: path, Field: "it", Want: "a file", Found: describe(info)}
	}
	return nil
}

// checkFolder refuses what is not a folder.
func checkFolder(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return &Error{Kind: ErrOpen, File: path, Err: cause(err)}
	case !info.IsDir():
		return &Error{Kind: ErrNotRegular, File: path, Field: "it", Want: "a folder", Found: describe(info)}
	}
	return nil
}

func describe(info fs.FileInfo) string {
	switch {
	case info.IsDir():
		return "a folder"
	case info.Mode().IsRegular():
		return "a file"
	}
	return "of mode " + info.Mode().String()
}

// cause returns err without the path, which the error around it has.
func cause(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}

// find returns the first of names that is in the folder.
func find(dir string, names ...string) (string, error) {
	for _, name := range names {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			return path, nil
		}
	}
	return "", &Error{Kind: ErrOpen, File: filepath.Join(dir, names[0]), Err: fs.ErrNotExist}
}

// binaryFile is a file of binary data that is read from its start to its end,
// plain or compressed by gzip.
type binaryFile struct {
	path   string
	reader io.Reader
	left   int64 // bytes to come; -1 where compression hides it
	closer io.Closer
}

// openBinary opens a file, which is taken for gzip's where it starts like one.
func openBinary(path string) (*binaryFile, error) {
	if err := checkRegular(path); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, &Error{Kind: ErrOpen, File: path, Err: cause(err)}
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, &Error{Kind: ErrOpen, File: path, Err: cause(err)}
	}
	b, err := newBinary(path, f, info.Size())
	if err != nil {
		f.Close()
		return nil, err
	}
	b.closer = f
	return b, nil
}

// newBinary reads from r, which holds size bytes.
func newBinary(path string, r io.Reader, size int64) (*binaryFile, error) {
	buffered := bufio.NewReaderSize(r, 1<<16)
	b := &binaryFile{path: path, reader: buffered, left: size}
	if start, err := buffered.Peek(2); err == nil && start[0] == 0x1f && start[1] == 0x8b {
		unpacked, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, b.fail("gzip header", err)
		}
		b.reader, b.left = unpacked, -1
	}
	return b, nil
}

func (b *binaryFile) close() {
	if b.closer != nil {
		b.closer.Close()
	}
}

// fail returns the error of a read that the file's format called for.
func (b *binaryFile) fail(field string, err error) error {
	kind := ErrOpen
	var corrupt flate.CorruptInputError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		kind, err = ErrTruncated, io.ErrUnexpectedEOF
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.As(err, &corrupt):
		kind = ErrFormat
	}
	return &Error{Kind: kind, File: b.path, Field: field, Err: cause(err)}
}

// firstRead is how much is allocated before any of a compressed file's claim to
// be longer has been seen to be true.
const firstRead = 1 << 20

// read returns the next n bytes. It allocates no more than a small multiple of
// what the file really holds.
func (b *binaryFile) read(field string, n int) ([]byte, error) {
	if b.left >= 0 && b.left < int64(n) {
		return nil, &Error{
			Kind: ErrTruncated, File: b.path, Field: "length of the " + field,
			Want: byteCount(int64(n)), Found: byteCount(b.left),
		}
	}
	room := n
	if b.left < 0 {
		room = min(n, firstRead)
	}
	data := make([]byte, room)
	for done := 0; ; {
		got, err := io.ReadFull(b.reader, data[done:])
		done += got
		if err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return nil, &Error{
					Kind: ErrTruncated, File: b.path, Field: "length of the " + field,
					Want: byteCount(int64(n)), Found: byteCount(int64(done)),
				}
			}
			return nil, b.fail(field, err)
		}
		if done == n {
			break
		}
		larger := make([]byte, min(n, 2*done))
		copy(larger, data)
		data = larger
	}
	if b.left >= 0 {
		b.left -= int64(n)
	}
	return data, nil
}

// end refuses a file that goes on, and checks the sum of a compressed one.
func (b *binaryFile) end() error {
	var one [1]byte
	n, err := io.ReadFull(b.reader, one[:])
	switch {
	case n > 0:
		found := "at least 1 byte"
		if b.left >= 0 {
			found = byteCount(b.left)
		}
		return &Error{Kind: ErrTrailing, File: b.path, Field: "what follows the data", Want: "nothing", Found: found}
	case errors.Is(err, gzip.ErrHeader):
		return &Error{Kind: ErrTrailing, File: b.path, Field: "what follows the compressed data", Want: "nothing", Found: "not of gzip"}
	case !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return b.fail("end of the compressed data", err)
	}
	return nil
}

// rest returns all that is left of the file, if that is at most most bytes.
func (b *binaryFile) rest(field string, most int64) ([]byte, error) {
	tooLarge := func(found string) error {
		return &Error{
			Kind: ErrTooLarge, File: b.path, Field: "length of the " + field,
			Want: "at most " + byteCount(most), Found: found,
		}
	}
	if b.left > most {
		return nil, tooLarge(byteCount(b.left))
	}
	if b.left >= 0 {
		data, err := b.read(field, int(b.left))
		if err != nil {
			return nil, err
		}
		return data, b.end()
	}
	data, err := io.ReadAll(io.LimitReader(b.reader, most+1))
	switch {
	case err != nil:
		return nil, b.fail(field, err)
	case int64(len(data)) > most:
		return nil, tooLarge("more than " + byteCount(most))
	}
	return data, nil
}
