// Package regularfile opens files that hold something: a pipe would be waited
// for, and a device may have no end.
package regularfile

import (
	"fmt"
	"io"
	"os"
)

// Open opens a file for reading. What is not a regular file is refused, without
// being opened. Its errors name the path.
func Open(path string) (*os.File, error) {
	if err := Check(path); err != nil {
		return nil, err
	}
	return os.Open(path)
}

// Check refuses a path to anything but a regular file.
func Check(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	switch {
	case info.IsDir():
		return fmt.Errorf("%s: is a directory, want a file", path)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s: not a regular file (%s)", path, info.Mode())
	}
	return nil
}

// Read returns what a regular file holds, if that is at most limit bytes.
func Read(path string, limit int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(text)) > limit {
		return nil, fmt.Errorf("%s: more than %d bytes", path, limit)
	}
	return text, nil
}
