//go:build unix

package regularfile_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stria-ml/stria/internal/regularfile"
)

// TestPipesAreNotWaitedFor opens a pipe that nobody writes to.
func TestPipesAreNotWaitedFor(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o644); err != nil {
		t.Skip(err)
	}
	for _, path := range []string{pipe, "/dev/null"} {
		if _, err := regularfile.Open(path); err == nil || !strings.Contains(err.Error(), path+": not a regular file (") {
			t.Errorf("%s: %v", path, err)
		}
	}
}
