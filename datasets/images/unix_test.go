//go:build unix

package images

import (
	"path/filepath"
	"syscall"
	"testing"
)

// TestPipesAreNotWaitedFor opens pipes that nobody writes to, and a device
// without an end.
func TestPipesAreNotWaitedFor(t *testing.T) {
	dir := t.TempDir()
	labels := write(t, dir, "labels", twoLabels)
	write(t, dir, "class/0.png", encode(t, "png", grey(1, 7)))
	pipe := filepath.Join(dir, "class", "1.png")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	shape := Shape{1, 1, 1}
	for _, path := range []string{pipe, "/dev/zero"} {
		_, err := OpenIDX(path, labels, IDXConfig{})
		wantKind(t, err, ErrNotRegular)
		_, err = DecodeImage(path, shape, SameChannels)
		if e := wantKind(t, err, ErrNotRegular); e.File != path {
			t.Errorf("%v", err)
		}
	}
	_, err := OpenFolder(dir, FolderConfig{Shape: shape})
	wantKind(t, err, ErrNotRegular)
	_, err = OpenMNIST(pipe, Train)
	wantKind(t, err, ErrNotRegular)
}
