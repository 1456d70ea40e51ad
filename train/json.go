package train

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/stria-ml/stria/internal/atomicfile"
	"github.com/stria-ml/stria/internal/regularfile"
	"github.com/stria-ml/stria/internal/strictjson"
)

// writeJSON writes a value to a file, whole or not at all.
func writeJSON(path string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return atomicfile.Write(path, func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	})
}

// maxJSONBytes is the size of the largest JSON file that is read.
const maxJSONBytes = 1 << 20

// readJSON reads a file that holds one value and nothing else. Unknown fields,
// those in another letter case and missing ones are errors.
func readJSON(path string, value any) error {
	text, err := regularfile.Read(path, maxJSONBytes)
	if err != nil {
		return err
	}
	if err := strictjson.Decode(text, value); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// number is a float64 that JSON shows as null where it is not finite.
type number float64

// MarshalJSON writes the shortest text that reads back as the same bits.
func (n number) MarshalJSON() ([]byte, error) {
	f := float64(n)
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, f, 'g', -1, 64), nil
}
