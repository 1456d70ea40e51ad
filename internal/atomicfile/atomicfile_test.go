package atomicfile_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stria-ml/stria/internal/atomicfile"
)

var errBroken = errors.New("broken")

// text returns a write function that writes s and returns err.
func text(s string, err error) func(io.Writer) error {
	return func(w io.Writer) error {
		if _, err := io.WriteString(w, s); err != nil {
			return err
		}
		return err
	}
}

// listing returns the names and contents of a folder's files.
func listing(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		b.WriteString(name + "=" + string(content) + " ")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(b.String())
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	for _, c := range []struct {
		content string
		err     error
		want    string
	}{
		{"half", errBroken, ""},
		{"one", nil, "f=one"},
		{"half", errBroken, "f=one"},
		{"two", nil, "f=two"},
		{"", nil, "f="},
	} {
		err := atomicfile.Write(path, text(c.content, c.err))
		if !errors.Is(err, c.err) || err != nil && !strings.Contains(err.Error(), path) {
			t.Errorf("writing %q: %v", c.content, err)
		}
		if got := listing(t, dir); got != c.want {
			t.Errorf("after %q: %q, want %q", c.content, got, c.want)
		}
	}
}

// TestWriteDuring leaves the former file in place until the new one is whole.
func TestWriteDuring(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := atomicfile.Write(path, func(w io.Writer) error {
		io.WriteString(w, "new")
		if content, _ := os.ReadFile(path); string(content) != "old" {
			t.Errorf("in the middle: %q", content)
		}
		return nil
	})
	if content, _ := os.ReadFile(path); err != nil || string(content) != "new" {
		t.Errorf("at the end: %q, %v", content, err)
	}
	if stat, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && stat.Mode().Perm() != 0o600 {
		t.Errorf("permissions %v, %v", stat.Mode(), err)
	}
}

func TestWriteNowhere(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(dir, "gone", "f"), filepath.Join(dir, "folder")} {
		if err := atomicfile.Write(path, text("x", nil)); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if got := listing(t, dir); got != "" {
		t.Errorf("left %q", got)
	}
}

func TestWriteDir(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "parent", "d")
	fill := func(err error) func(string) error {
		return func(dir string) error {
			if _, err := os.Stat(path); err == nil {
				t.Error("the folder is there too early")
			}
			os.Mkdir(filepath.Join(dir, "sub"), 0o755)
			os.WriteFile(filepath.Join(dir, "sub", "a"), []byte("1"), 0o644)
			os.WriteFile(filepath.Join(dir, "b"), []byte("2"), 0o644)
			return err
		}
	}
	if err := atomicfile.WriteDir(path, fill(errBroken)); !errors.Is(err, errBroken) || !strings.Contains(err.Error(), path) {
		t.Errorf("a failing writer: %v", err)
	}
	if got := listing(t, dir); got != "" {
		t.Errorf("a failing writer left %q", got)
	}
	if err := atomicfile.WriteDir(path, fill(nil)); err != nil {
		t.Error(err)
	}
	want := filepath.Join("parent", "d", "b") + "=2 " + filepath.Join("parent", "d", "sub", "a") + "=1"
	if got := listing(t, dir); got != want {
		t.Errorf("wrote %q, want %q", got, want)
	}
	if err := atomicfile.WriteDir(path, func(string) error { return nil }); err == nil {
		t.Error("a folder that exists was written over")
	}
	if got := listing(t, dir); got != want {
		t.Errorf("now there is %q, want %q", got, want)
	}
}

// TestPanic leaves nothing behind a writer that panics.
func TestPanic(t *testing.T) {
	dir := t.TempDir()
	for name, write := range map[string]func(){
		"file":   func() { atomicfile.Write(filepath.Join(dir, "f"), func(io.Writer) error { panic("broken") }) },
		"folder": func() { atomicfile.WriteDir(filepath.Join(dir, "d"), func(string) error { panic("broken") }) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: the panic was lost", name)
				}
			}()
			write()
		}()
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left %v, %v", left, err)
	}
}
