//go:build unix

package safetensors

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

// mapping is a file's bytes. They are unmapped when nothing refers to it.
type mapping struct{ bytes []byte }

// mapFile maps the file at path for reading.
func mapFile(path string) (*mapping, error) {
	f, size, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if size == 0 {
		return &mapping{}, nil // which cannot be mapped; the parser says that it is too short
	}
	if int64(int(size)) != size {
		return nil, fmt.Errorf("safetensors %s: its %d bytes are more than this system can map", path, size)
	}
	bytes, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("safetensors %s: mapping %d bytes: %w", path, size, err)
	}
	m := &mapping{bytes}
	runtime.AddCleanup(m, func(bytes []byte) { unix.Munmap(bytes) }, bytes)
	return m, nil
}
