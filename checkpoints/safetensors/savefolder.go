package safetensors

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/stria-ml/stria/internal/atomicfile"
)

// SaveFolder writes tensors and notes to a folder that exists: to
// model.safetensors if all their data fit into maxShard bytes, or if that is 0;
// otherwise to shards, filled in the order of the tensors, and then an index. A
// larger tensor has a shard for itself. Each file is written whole or not at
// all, and a folder that has tensors already is refused.
func SaveFolder(dir string, tensors []Named, metadata map[string]string, maxShard int) error {
	if maxShard < 0 {
		return fmt.Errorf("safetensors: shards of %d bytes, want at least 1, or 0 for one file", maxShard)
	}
	for _, name := range [...]string{SingleFile, IndexFile} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return fmt.Errorf("safetensors: folder %s has a %s already", dir, name)
		}
	}
	if _, err := inOrder(tensors); err != nil { // before anything is written
		return err
	}
	shards, total, err := split(tensors, maxShard)
	if err != nil {
		return err
	}
	if len(shards) == 1 {
		return Save(filepath.Join(dir, SingleFile), tensors, metadata)
	}
	where := map[string]string{}
	for i, shard := range shards {
		name := fmt.Sprintf("model-%05d-of-%05d.safetensors", i+1, len(shards))
		for _, n := range shard {
			where[n.Name] = name
		}
		if err := Save(filepath.Join(dir, name), shard, metadata); err != nil {
			return err
		}
	}
	return saveIndex(filepath.Join(dir, IndexFile), where, total)
}

// split returns the tensors of each shard, one at least, and the bytes of all.
func split(tensors []Named, maxShard int) (shards [][]Named, total int, err error) {
	var shard []Named
	held := 0
	for _, n := range tensors {
		size, err := dataBytes(n)
		if err != nil {
			return nil, 0, err
		}
		if maxShard > 0 && len(shard) > 0 && held > maxShard-size {
			shards, shard, held = append(shards, shard), nil, 0
		}
		shard, held, total = append(shard, n), held+size, total+size
	}
	return append(shards, shard), total, nil
}

func saveIndex(path string, where map[string]string, total int) error {
	text, err := json.MarshalIndent(map[string]any{
		"metadata":   map[string]json.Number{"total_size": json.Number(strconv.Itoa(total))},
		"weight_map": where,
	}, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(path, func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	})
}
