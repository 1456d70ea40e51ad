// Package atomicfile replaces files and folders whole or not at all: what is
// new is written beside its final name, synced, and renamed.
package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// Write calls write with a file beside path and renames it to path. On an
// error, or a crash at any instant, what was at path is whole. A file that was
// there leaves its permissions to the new one.
func Write(path string, write func(w io.Writer) error) error {
	var f *os.File
	name, err := beside(path, func(name string) (err error) {
		f, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		return err
	})
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer os.Remove(name) // unless it was renamed; also if write panics
	defer f.Close()
	if err := fill(f, path, write); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return syncDir(filepath.Dir(path))
}

// fill writes, syncs, closes and renames f.
func fill(f *os.File, path string, write func(w io.Writer) error) error {
	if stat, err := os.Stat(path); err == nil {
		if err := f.Chmod(stat.Mode().Perm()); err != nil {
			return err
		}
	}
	if err := write(f); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// WriteDir calls write with a new folder beside path and renames it to path,
// which must not exist; parents are made. What it holds is synced before.
func WriteDir(path string, write func(dir string) error) error {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("write %s: it exists", path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	dir, err := beside(path, func(name string) error { return os.Mkdir(name, 0o777) })
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer os.RemoveAll(dir) // unless it was renamed; also if write panics
	if err := fillDir(dir, path, write); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return syncDir(filepath.Dir(path))
}

// fillDir writes, syncs and renames dir.
func fillDir(dir, path string, write func(dir string) error) error {
	if err := write(dir); err != nil {
		return err
	}
	if err := syncTree(dir); err != nil {
		return err
	}
	return os.Rename(dir, path)
}

// beside calls create with hidden names beside path until one is free.
func beside(path string, create func(name string) error) (name string, err error) {
	for range 1000 {
		name = filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%08x", filepath.Base(path), rand.Uint32()))
		if err = create(name); !errors.Is(err, fs.ErrExist) {
			return name, err
		}
	}
	return name, err
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
