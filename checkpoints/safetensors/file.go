package safetensors

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"unsafe"

	"github.com/stria-ml/stria/tensor"
)

// File is an open file, or one in memory. Its tensors stay valid after Close:
// the mapping lives as long as one of them.
type File struct {
	path   string
	header *header
	data   []byte // behind the header
	owner  any    // keeps data mapped
	closed bool
}

// Open maps the file at path.
func Open(path string) (*File, error) {
	m, err := mapFile(path)
	if err != nil {
		return nil, err
	}
	f, err := parse(path, m.bytes)
	if err != nil {
		return nil, err
	}
	f.owner = m
	return f, nil
}

// Parse reads a file that lies in memory, which the tensors share. name stands
// in errors.
func Parse(name string, content []byte) (*File, error) { return parse(name, content) }

func parse(path string, content []byte) (*File, error) {
	n, err := headerLength(content, int64(len(content)))
	if err != nil {
		return nil, fmt.Errorf("safetensors %s: %w", path, err)
	}
	data := content[prefix+n:]
	h, err := parseHeader(content[prefix:prefix+n], int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("safetensors %s: %w", path, err)
	}
	return &File{path: path, header: h, data: data}, nil
}

// ReadHeader returns what the file at path holds, without reading its data.
func ReadHeader(path string) (infos []Info, metadata map[string]string, err error) {
	f, size, err := openRegular(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	h, err := readHeader(f, size)
	if err != nil {
		return nil, nil, fmt.Errorf("safetensors %s: %w", path, err)
	}
	return h.infos, h.metadata, nil
}

// openRegular opens a file and returns its size. Pipes and devices, which might
// never answer, are refused.
func openRegular(path string) (f *os.File, size int64, err error) {
	stat, err := os.Stat(path)
	if err != nil {
		return nil, 0, err
	}
	if !stat.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("safetensors %s: not a regular file", path)
	}
	if f, err = os.Open(path); err != nil {
		return nil, 0, err
	}
	if stat, err = f.Stat(); err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, stat.Size(), nil
}

func readHeader(f *os.File, size int64) (*header, error) {
	var first [prefix]byte
	if _, err := f.ReadAt(first[:min(size, prefix)], 0); err != nil {
		return nil, err
	}
	n, err := headerLength(first[:], size)
	if err != nil {
		return nil, err
	}
	text := make([]byte, n) // at most the file's own size
	if _, err := f.ReadAt(text, prefix); err != nil {
		return nil, err
	}
	return parseHeader(text, size-prefix-int64(n))
}

// Path returns where the file came from.
func (f *File) Path() string { return f.path }

// Infos describes the tensors, in the order of their bytes.
func (f *File) Infos() []Info { return slices.Clone(f.header.infos) }

// Metadata returns the file's own notes.
func (f *File) Metadata() map[string]string { return maps.Clone(f.header.metadata) }

// Info describes a tensor.
func (f *File) Info(name string) (info Info, ok bool) {
	i, ok := f.header.index[name]
	if !ok {
		return Info{}, false
	}
	return f.header.infos[i], true
}

// Tensor returns a tensor that shares the file's bytes and cannot be written.
// Data that is not aligned is copied, and so is all data on hosts whose byte
// order is not the file's.
func (f *File) Tensor(name string) (*tensor.Tensor, error) {
	info, ok := f.Info(name)
	if !ok {
		return nil, fmt.Errorf("safetensors %s: there is no tensor %q", f.path, name)
	}
	if f.closed {
		return nil, fmt.Errorf("safetensors %s: tensor %q: the file is closed", f.path, name)
	}
	data := f.data[info.Start:info.End]
	if !littleEndian {
		data = swapped(data, info.DType.Size())
	}
	t, err := tensor.FromMapped(data, f.owner, info.DType, "it is part of the file "+f.path, info.Shape...)
	if err != nil {
		return nil, fmt.Errorf("safetensors %s: tensor %q: %w", f.path, name, err)
	}
	return t, nil
}

// Close gives the file back, once none of its tensors is left: those stay
// valid. Tensor is an error from here on.
func (f *File) Close() error {
	f.data, f.owner, f.closed = nil, nil, true
	return nil
}

var littleEndian = func() bool {
	one := uint16(1)
	return *(*byte)(unsafe.Pointer(&one)) == 1
}()

// swapped returns data with the bytes of each element in reverse order.
func swapped(data []byte, size int) []byte {
	out := slices.Clone(data)
	for i := 0; i+size <= len(out); i += size {
		slices.Reverse(out[i : i+size])
	}
	return out
}
