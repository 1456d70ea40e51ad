package datasets

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// OpenText reads the file at path, byte for byte, and is then [NewText]. Its
// errors name the file; those of the file itself wrap what package os returned,
// or [ErrNotRegular].
func OpenText(path string, config TextConfig) (*Text, error) {
	if err := config.complete(); err != nil {
		return nil, fmt.Errorf("datasets: %w", err)
	}
	text, err := readText(path, config.MaxBytes)
	if err != nil {
		return nil, fmt.Errorf("datasets: text file %q: %w", path, err)
	}
	t, err := newText(text, config)
	if err != nil {
		return nil, fmt.Errorf("datasets: text file %q: %w", path, err)
	}
	return t, nil
}

// readText returns the content of a regular file of at most limit bytes. It
// looks at the file before opening it: opening a pipe may wait forever.
func readText(path string, limit int64) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", reason(err)
	}
	if info.IsDir() {
		return "", fmt.Errorf("%w, but a directory", ErrNotRegular)
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%w (mode %s)", ErrNotRegular, info.Mode())
	}
	if info.Size() > limit {
		return "", fmt.Errorf("%w: %d bytes, and the limit is %d", ErrTextTooLarge, info.Size(), limit)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", reason(err)
	}
	defer f.Close()
	var text strings.Builder
	text.Grow(int(min(info.Size(), DefaultMaxTextBytes)))
	// A file may have grown since, or be one whose size is not known.
	n, err := io.Copy(&text, io.LimitReader(f, limit))
	if err != nil {
		return "", reason(err)
	}
	if n == limit {
		if extra, _ := f.Read(make([]byte, 1)); extra > 0 {
			return "", fmt.Errorf("%w: more than %d bytes", ErrTextTooLarge, limit)
		}
	}
	return text.String(), nil
}

// reason returns err without the path, which the caller's message has.
func reason(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}
