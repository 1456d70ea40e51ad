//go:build unix

package datasets

import (
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Reading a pipe may wait forever and /dev/zero never ends: neither is opened.
func TestOpenTextRefusesSpecialFiles(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, "/dev/zero"} {
		_, err := OpenText(path, TextConfig{Context: 8})
		if !errors.Is(err, ErrNotRegular) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want %q", path, err, ErrNotRegular)
		}
	}
}
