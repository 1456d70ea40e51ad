// Package atomicfile replaces files and folders whole or not at all: what is
// new is written beside its final name, synced, and renamed.
package atomicfile

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Write calls write with a file beside path and renames it to path. On an
// error, or a crash at any instant, what was at path is whole.
func Write(path string, write func(w io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
			err = fmt.Errorf("write %s: %w", path, err)
		}
	}()
	if err := write(f); err != nil {
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// WriteDir calls write with a new folder beside path and renames it to path,
// which must not exist; parents are made. What it holds is synced before.
func WriteDir(path string, write func(dir string) error) (err error) {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("write %s: it exists", path)
	}
	parent := filepath.Dir(path)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(parent, "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			os.RemoveAll(dir)
			err = fmt.Errorf("write %s: %w", path, err)
		}
	}()
	if err := os.Chmod(dir, 0o755); err != nil {
		return err
	}
	if err := write(dir); err != nil {
		return err
	}
	if err := syncTree(dir); err != nil {
		return err
	}
	if err := os.Rename(dir, path); err != nil {
		return err
	}
	return syncDir(parent)
}

// syncTree makes the files and folders of dir durable.
func syncTree(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			return syncDir(path)
		case entry.Type().IsRegular():
			return syncFile(path)
		}
		return nil
	})
}

func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
