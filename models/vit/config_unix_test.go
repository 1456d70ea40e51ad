//go:build unix

package vit_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stria-ml/stria/models/vit"
)

// TestReadConfigWaitsForNoPipe reads a config.json that nobody writes.
func TestReadConfigWaitsForNoPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "config.json")
	if err := syscall.Mkfifo(pipe, 0o644); err != nil {
		t.Skip(err)
	}
	for _, path := range []string{pipe, "/dev/zero"} {
		if _, err := vit.ReadConfig(path); err == nil || !strings.Contains(err.Error(), path+": not a regular file") {
			t.Errorf("%s: %v", path, err)
		}
	}
}
