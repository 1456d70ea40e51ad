package regularfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stria-ml/stria/internal/regularfile"
)

func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("four"), 0o644); err != nil {
		t.Fatal(err)
	}
	if text, err := regularfile.Read(path, 4); err != nil || string(text) != "four" {
		t.Errorf("%q, %v", text, err)
	}
	for want, read := range map[string]func() ([]byte, error){
		"file: more than 3 bytes":     func() ([]byte, error) { return regularfile.Read(path, 3) },
		"is a directory, want a file": func() ([]byte, error) { return regularfile.Read(filepath.Dir(path), 3) },
		"nowhere: no such file":       func() ([]byte, error) { return regularfile.Read(filepath.Join(filepath.Dir(path), "nowhere"), 3) },
		"file/below: not a directory": func() ([]byte, error) { return regularfile.Read(filepath.Join(path, "below"), 3) },
	} {
		if _, err := read(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}
