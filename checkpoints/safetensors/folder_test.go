package safetensors_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stria-ml/stria/checkpoints/safetensors"
	"github.com/stria-ml/stria/tensor"
)

// folderOf returns a folder of files.
func folderOf(t testing.TB, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// shard returns a file of one byte for each tensor.
func shard(names ...string) []byte {
	var list []safetensors.Named
	for _, name := range names {
		list = append(list, safetensors.Named{Name: name, Tensor: tensor.Ones(tensor.Uint8, 1)})
	}
	var out bytes.Buffer
	if err := safetensors.Write(&out, list, map[string]string{"of": strings.Join(names, "")}); err != nil {
		panic(err)
	}
	return out.Bytes()
}

func TestFolder(t *testing.T) {
	index := `{"metadata":{"total_size":3,"more":[1,{}]},"weight_map":{"c":"y","a":"x","b":"x"},"other":null}`
	dir := folderOf(t, map[string][]byte{"x": shard("a", "b"), "y": shard("c"), "z": shard("d"), safetensors.IndexFile: []byte(index)})
	f, err := safetensors.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, info := range f.Infos() {
		names = append(names, info.Name)
	}
	if !slices.Equal(names, []string{"a", "b", "c"}) || f.Bytes() != 3 || f.Path() != dir || len(f.Notes()) != 0 {
		t.Errorf("tensors %v, %d bytes, path %s, notes %v", names, f.Bytes(), f.Path(), f.Notes())
	}
	if of := f.Metadata()["of"]; of != "ab" || len(f.Files()) != 2 {
		t.Errorf("metadata of %q in %d files", of, len(f.Files()))
	}
	c, err := f.Tensor("c")
	if err != nil || c.DType() != tensor.Uint8 {
		t.Errorf("c: %v, %v", c, err)
	}
	if _, err := f.Tensor("d"); err == nil || !strings.Contains(err.Error(), `"d"`) {
		t.Errorf("d: %v", err)
	}
	if _, ok := f.Info("d"); ok {
		t.Error("there is a d")
	}
	f.Close()
	if _, err := f.Tensor("c"); err == nil {
		t.Error("a tensor after Close")
	}
}

// TestFolderNotes reads folders with oddities that do no harm.
func TestFolderNotes(t *testing.T) {
	for _, c := range []struct{ size, note string }{
		{"3", ""}, {"3.0", ""}, {"4", "4 bytes, but they take 3"}, {"1e99", "1e99"}, {"-1", "-1"},
	} {
		index := `{"metadata":{"total_size":` + c.size + `},"weight_map":{"a":"x","b":"x","c":"x"}}`
		f, err := safetensors.OpenFolder(folderOf(t, map[string][]byte{"x": shard("a", "b", "c"), safetensors.IndexFile: []byte(index)}))
		if err != nil {
			t.Errorf("total_size %s: %v", c.size, err)
			continue
		}
		if notes := strings.Join(f.Notes(), ""); !strings.Contains(notes, c.note) || (c.note == "") != (notes == "") {
			t.Errorf("total_size %s: notes %q", c.size, notes)
		}
	}
	f, err := safetensors.OpenFolder(folderOf(t, map[string][]byte{safetensors.SingleFile: shard("a"), safetensors.IndexFile: []byte("no index")}))
	if err != nil || len(f.Notes()) != 1 {
		t.Errorf("single file beside an index: %v", err)
	}
}

func TestFolderRefusals(t *testing.T) {
	for _, c := range []struct {
		name, index string
		want        []string
	}{
		{"no object", `[]`, []string{"["}},
		{"nothing", ``, []string{"unexpected EOF"}},
		{"no map", `{"metadata":{}}`, []string{"weight_map", "missing"}},
		{"map in other letters", `{"Weight_Map":{"a":"x"}}`, []string{"weight_map", "missing"}},
		{"map twice", `{"weight_map":{},"weight_map":{}}`, []string{"weight_map", "twice"}},
		{"tensor twice", `{"weight_map":{"a":"x","a":"y"}}`, []string{`"a"`, "twice"}},
		{"text after", `{"weight_map":{}} x`, []string{"more after the JSON value"}},
		{"not UTF-8", "{\"weight_map\":{\"\xff\":\"x\"}}", []string{"UTF-8"}},
		{"map of a list", `{"weight_map":[]}`, []string{"["}},
		{"shard of a number", `{"weight_map":{"a":1}}`, []string{`"a"`, "name of a file"}},
		{"size of text", `{"metadata":{"total_size":"3"},"weight_map":{}}`, []string{"total_size"}},
		{"parent folder", `{"weight_map":{"a":"../x"}}`, []string{`"a"`, "../x", "folder"}},
		{"absolute path", `{"weight_map":{"a":"/etc/passwd"}}`, []string{"/etc/passwd"}},
		{"folder within", `{"weight_map":{"a":"sub/x"}}`, []string{"sub/x"}},
		{"backslash", `{"weight_map":{"a":"..\\x"}}`, []string{`..\\x`}},
		{"drive", `{"weight_map":{"a":"c:x"}}`, []string{"c:x"}},
		{"dot", `{"weight_map":{"a":"."}}`, []string{`"."`}},
		{"two dots", `{"weight_map":{"a":".."}}`, []string{`".."`}},
		{"no name", `{"weight_map":{"a":""}}`, []string{`""`}},
		{"zero byte", `{"weight_map":{"a":"x\u0000"}}`, []string{`x\x00`}},
		{"missing shard", `{"weight_map":{"a":"x","b":"x","c":"gone"}}`, []string{"gone", "missing"}},
		{"broken shard", `{"weight_map":{"a":"broken"}}`, []string{"broken", "takes 8"}},
		{"missing tensor", `{"weight_map":{"a":"x","b":"x","n":"x"}}`, []string{`"n"`, "not in its shard x"}},
		{"another shard", `{"weight_map":{"a":"y","b":"x","c":"y"}}`, []string{`"a"`, "in shard x, not in y"}},
		{"unlisted tensor", `{"weight_map":{"a":"x"}}`, []string{`"b"`, "shard x", "weight_map"}},
		{"two shards", `{"weight_map":{"a":"x","b":"x2"}}`, []string{`"a"`, "two shards", "x and x2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := folderOf(t, map[string][]byte{
				"x": shard("a", "b"), "y": shard("c"), "x2": shard("a", "b"), "broken": {}, safetensors.IndexFile: []byte(c.index),
			})
			_, err := safetensors.OpenFolder(dir)
			if err == nil {
				t.Fatal("it was taken")
			}
			for _, part := range append(c.want, dir) {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q does not say %q", err, part)
				}
			}
		})
	}
	if _, err := safetensors.OpenFolder(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty folder: %v", err)
	}
}

// TestSaveFolder splits tensors by size and reads them back.
func TestSaveFolder(t *testing.T) {
	var list []safetensors.Named
	for i, name := range []string{"e", "d", "c", "b", "a"} {
		list = append(list, safetensors.Named{Name: name, Tensor: tensor.Full(tensor.Float32, float64(i), 10*(i+1))})
	}
	for _, c := range []struct{ most, files int }{{0, 1}, {600, 1}, {599, 2}, {200, 4}, {1, 5}} {
		dir := t.TempDir()
		if err := safetensors.SaveFolder(dir, list, map[string]string{"k": "v"}, c.most); err != nil {
			t.Fatal(err)
		}
		f, err := safetensors.OpenFolder(dir)
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Files()) != c.files || len(f.Infos()) != len(list) || f.Bytes() != 600 || len(f.Notes()) != 0 || f.Metadata()["k"] != "v" {
			t.Errorf("at most %d bytes: %d files, %d tensors, %d bytes, notes %v", c.most, len(f.Files()), len(f.Infos()), f.Bytes(), f.Notes())
		}
		for _, n := range list {
			v, err := f.Tensor(n.Name)
			if err != nil || !bytes.Equal(tensor.Bytes(v), tensor.Bytes(n.Tensor)) {
				t.Errorf("%q: %v", n.Name, err)
			}
		}
		if err := safetensors.SaveFolder(dir, list, nil, c.most); err == nil {
			t.Error("a folder that has tensors was written to")
		}
	}
	dir := t.TempDir()
	if err := safetensors.SaveFolder(dir, append(list, list[0]), nil, 200); err == nil {
		t.Error("a name in two shards was written")
	}
	if err := safetensors.SaveFolder(dir, list, nil, -1); err == nil {
		t.Error("shards of -1 bytes")
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("%d files are left", len(left))
	}
	if err := safetensors.SaveFolder(dir, nil, nil, 5); err != nil {
		t.Error(err)
	}
}
