package safetensors

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/stria-ml/stria/tensor"
)

// Folder is an open folder with a model's tensors: in model.safetensors, or in
// shards that an index lists. Its tensors stay valid after Close.
type Folder struct {
	dir   string
	files []*File          // in order of their names
	infos []Info           // file by file, in the order of their bytes
	where map[string]*File // by tensor
	notes []string
}

// OpenFolder maps the files of a folder. With model.safetensors there, an index
// is left alone, as Hugging Face's libraries do. Otherwise every tensor must be
// in exactly one shard, the one that the index says, and in the index.
func OpenFolder(dir string) (*Folder, error) {
	single, indexPath := filepath.Join(dir, SingleFile), filepath.Join(dir, IndexFile)
	_, err := os.Stat(single)
	switch {
	case err == nil:
		return openSingle(dir, single, indexPath)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	x, err := readIndex(indexPath)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("safetensors: folder %s has neither %s nor %s: %w", dir, SingleFile, IndexFile, fs.ErrNotExist)
	}
	if err != nil {
		return nil, err
	}
	return openShards(dir, x)
}

func openSingle(dir, path, indexPath string) (*Folder, error) {
	file, err := Open(path)
	if err != nil {
		return nil, err
	}
	f := &Folder{dir: dir, where: map[string]*File{}}
	if err := f.add(file); err != nil {
		return nil, err
	}
	if _, err := os.Stat(indexPath); err == nil {
		f.notes = append(f.notes, fmt.Sprintf("%s is read, %s is left alone", SingleFile, IndexFile))
	}
	return f, nil
}

func openShards(dir string, x *index) (*Folder, error) {
	f := &Folder{dir: dir, where: map[string]*File{}}
	for _, shard := range x.files() {
		file, err := Open(filepath.Join(dir, shard))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("safetensors %s: shard %s is missing: %w", filepath.Join(dir, IndexFile), shard, err)
		}
		if err != nil {
			return nil, err
		}
		if err := f.add(file); err != nil {
			return nil, err
		}
	}
	if err := f.checkIndex(x); err != nil {
		return nil, fmt.Errorf("safetensors %s: %w", filepath.Join(dir, IndexFile), err)
	}
	if note := x.sizeNote(f.Bytes()); note != "" {
		f.notes = append(f.notes, note)
	}
	return f, nil
}

// files returns the shards' names, sorted.
func (x *index) files() []string {
	var list []string
	seen := map[string]bool{}
	for _, name := range x.names {
		if shard := x.shards[name]; !seen[shard] {
			seen[shard] = true
			list = append(list, shard)
		}
	}
	slices.Sort(list)
	return list
}

// add takes a file's tensors in.
func (f *Folder) add(file *File) error {
	f.files = append(f.files, file)
	for _, info := range file.Infos() {
		if other, twice := f.where[info.Name]; twice {
			return fmt.Errorf("safetensors %s: tensor %q is in two shards, %s and %s",
				f.dir, info.Name, filepath.Base(other.path), filepath.Base(file.path))
		}
		f.where[info.Name] = file
		f.infos = append(f.infos, info)
	}
	return nil
}

// checkIndex checks that index and shards name the same tensors.
func (f *Folder) checkIndex(x *index) error {
	for _, name := range x.names {
		file, ok := f.where[name]
		if !ok {
			return fmt.Errorf("tensor %q is not in its shard %s", name, x.shards[name])
		}
		if found := filepath.Base(file.path); found != x.shards[name] {
			return fmt.Errorf("tensor %q is in shard %s, not in %s", name, found, x.shards[name])
		}
	}
	for _, info := range f.infos {
		if _, listed := x.shards[info.Name]; !listed {
			return fmt.Errorf("tensor %q of shard %s is not in weight_map", info.Name, filepath.Base(f.where[info.Name].path))
		}
	}
	return nil
}

// Path returns the folder's path.
func (f *Folder) Path() string { return f.dir }

// Files returns the files, in order of their names.
func (f *Folder) Files() []*File { return slices.Clone(f.files) }

// Notes says what is odd about the folder without harm to its tensors.
func (f *Folder) Notes() []string { return slices.Clone(f.notes) }

// Infos describes the tensors of all files.
func (f *Folder) Infos() []Info { return slices.Clone(f.infos) }

// Bytes returns how many bytes all tensors take.
func (f *Folder) Bytes() int {
	total := 0
	for _, info := range f.infos {
		total += info.End - info.Start
	}
	return total
}

// Metadata returns the files' notes; where they differ, the first file's.
func (f *Folder) Metadata() map[string]string {
	all := map[string]string{}
	for _, file := range slices.Backward(f.files) {
		for key, value := range file.header.metadata {
			all[key] = value
		}
	}
	return all
}

// Info describes a tensor.
func (f *Folder) Info(name string) (info Info, ok bool) {
	file, ok := f.where[name]
	if !ok {
		return Info{}, false
	}
	return file.Info(name)
}

// Tensor returns a tensor as File.Tensor does.
func (f *Folder) Tensor(name string) (*tensor.Tensor, error) {
	file, ok := f.where[name]
	if !ok {
		return nil, fmt.Errorf("safetensors %s: there is no tensor %q", f.dir, name)
	}
	return file.Tensor(name)
}

// Close closes all files.
func (f *Folder) Close() error {
	for _, file := range f.files {
		file.Close()
	}
	return nil
}
