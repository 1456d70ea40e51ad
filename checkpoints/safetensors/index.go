package safetensors

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/stria-ml/stria/internal/strictjson"
)

// The names of a folder's files, as Hugging Face's libraries choose them.
const (
	SingleFile = "model.safetensors"            // all tensors
	IndexFile  = "model.safetensors.index.json" // says which shard has which tensor
)

// index is a decoded index file.
type index struct {
	shards    map[string]string // by tensor
	names     []string          // of tensors, in the file's order
	totalSize json.Number       // of all tensors' bytes, or ""
}

// readIndex reads the index file at path, of MaxHeader bytes at most.
func readIndex(path string) (*index, error) {
	f, _, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, MaxHeader+1))
	if err != nil {
		return nil, err
	}
	x, err := parseIndex(text)
	if err != nil {
		return nil, fmt.Errorf("safetensors %s: %w", path, err)
	}
	return x, nil
}

// parseIndex decodes {"metadata": {"total_size": ...}, "weight_map": {...}}.
// Other fields say nothing about the tensors.
func parseIndex(text []byte) (*index, error) {
	if len(text) > MaxHeader {
		return nil, fmt.Errorf("the index is longer than %d bytes", MaxHeader)
	}
	if err := strictjson.CheckText(text); err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	x := &index{}
	err := strictjson.Object(d, func(key string) error {
		switch key {
		case "metadata":
			return x.decodeMetadata(d)
		case "weight_map":
			return x.decodeMap(d)
		}
		return skip(d)
	})
	if err != nil {
		return nil, err
	}
	if err := strictjson.End(d, text); err != nil {
		return nil, err
	}
	if x.shards == nil {
		return nil, fmt.Errorf("weight_map is missing")
	}
	return x, nil
}

// skip reads a value that says nothing.
func skip(d *json.Decoder) error {
	var value json.RawMessage
	return strictjson.Cut(d.Decode(&value))
}

func (x *index) decodeMetadata(d *json.Decoder) error {
	return strictjson.Object(d, func(key string) error {
		if key != "total_size" {
			return skip(d)
		}
		token, err := d.Token()
		if err != nil {
			return err
		}
		size, ok := token.(json.Number)
		if !ok {
			return fmt.Errorf("metadata: total_size is %v, want a number", token)
		}
		x.totalSize = size
		return nil
	})
}

func (x *index) decodeMap(d *json.Decoder) error {
	x.shards = map[string]string{}
	return strictjson.Object(d, func(name string) error {
		token, err := d.Token()
		if err != nil {
			return err
		}
		shard, ok := token.(string)
		if !ok {
			return fmt.Errorf("weight_map: tensor %q is in %v, want the name of a file", name, token)
		}
		if !localName(shard) {
			return fmt.Errorf("weight_map: tensor %q is in %q, which is no name of a file in the index's folder", name, shard)
		}
		x.shards[name] = shard
		x.names = append(x.names, name)
		return nil
	})
}

// localName reports whether name is that of a file, and no path to elsewhere,
// on any system.
func localName(name string) bool {
	return name != "." && filepath.IsLocal(name) && !strings.ContainsAny(name, "/\\:\x00")
}

// sizeNote returns what is wrong with total_size, or "". Published indexes are
// wrong at times, which does no harm.
func (x *index) sizeNote(found int) string {
	if x.totalSize == "" || x.totalSize.String() == strconv.Itoa(found) {
		return ""
	}
	if size, err := x.totalSize.Float64(); err == nil && size == float64(found) {
		return ""
	}
	return fmt.Sprintf("%s says that the tensors take %s bytes, but they take %d", IndexFile, x.totalSize, found)
}
