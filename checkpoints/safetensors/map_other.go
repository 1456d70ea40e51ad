//go:build !unix

package safetensors

import "io"

// mapping is a file's bytes.
type mapping struct{ bytes []byte }

// mapFile reads the file at path: there is no portable mapping.
func mapFile(path string) (*mapping, error) {
	f, _, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	bytes, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	return &mapping{bytes}, nil
}
