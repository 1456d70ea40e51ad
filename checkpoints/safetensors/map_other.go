//go:build !unix

package safetensors

import "os"

// mapping is a file's bytes.
type mapping struct{ bytes []byte }

// mapFile reads the file at path: there is no portable mapping.
func mapFile(path string) (*mapping, error) {
	bytes, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return &mapping{bytes}, nil
}
