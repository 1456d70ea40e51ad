package safetensors

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"sort"
	"unicode/utf8"

	"github.com/stria-ml/stria/internal/atomicfile"
	"github.com/stria-ml/stria/tensor"
)

// Named is a tensor and its name in a file.
type Named struct {
	Name   string
	Tensor *tensor.Tensor
}

// Save writes tensors and notes to path, which holds the former content or the
// new one at any instant.
func Save(path string, tensors []Named, metadata map[string]string) error {
	return atomicfile.Write(path, func(w io.Writer) error { return Write(w, tensors, metadata) })
}

// Write writes tensors, whatever their layout, and notes. Larger elements come
// first, then names in alphabetical order, so that all data is aligned.
func Write(w io.Writer, tensors []Named, metadata map[string]string) error {
	sorted, err := inOrder(tensors)
	if err != nil {
		return err
	}
	text, err := encodeHeader(sorted, metadata)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 1<<16)
	var length [prefix]byte
	binary.LittleEndian.PutUint64(length[:], uint64(len(text)))
	out.Write(length[:])
	out.Write(text)
	for _, n := range sorted {
		if _, err := out.Write(fileBytes(n.Tensor)); err != nil {
			return err
		}
	}
	return out.Flush()
}

// inOrder returns the tensors in the order of their bytes.
func inOrder(tensors []Named) ([]Named, error) {
	sorted := append([]Named(nil), tensors...)
	sort.SliceStable(sorted, func(i, j int) bool {
		a, b := sorted[i], sorted[j]
		if x, y := a.Tensor.DType().Size(), b.Tensor.DType().Size(); x != y {
			return x > y
		}
		return a.Name < b.Name
	})
	names := map[string]bool{}
	for _, n := range sorted {
		switch {
		case names[n.Name]:
			return nil, fmt.Errorf("safetensors: two tensors are named %q", n.Name)
		case n.Name == "__metadata__" || !utf8.ValidString(n.Name):
			return nil, fmt.Errorf("safetensors: a tensor cannot be named %q", n.Name)
		}
		names[n.Name] = true
	}
	return sorted, nil
}

// encodeHeader returns the header, padded so that the data is aligned to 8.
func encodeHeader(tensors []Named, metadata map[string]string) ([]byte, error) {
	text := []byte{'{'}
	if metadata != nil {
		notes, err := encodeMetadata(metadata)
		if err != nil {
			return nil, err
		}
		text = append(append(text, `"__metadata__":`...), notes...)
	}
	start := 0
	for _, n := range tensors {
		name, err := json.Marshal(n.Name)
		if err != nil {
			return nil, err
		}
		if len(text) > 1 {
			text = append(text, ',')
		}
		size, err := dataBytes(n)
		if err != nil {
			return nil, err
		}
		if start > math.MaxInt-size {
			return nil, fmt.Errorf("safetensors: tensor %q ends behind byte %d", n.Name, math.MaxInt)
		}
		end := start + size
		shape, err := json.Marshal(append([]int{}, n.Tensor.Shape()...))
		if err != nil {
			return nil, err
		}
		text = fmt.Appendf(text, `%s:{"dtype":"%s","shape":%s,"data_offsets":[%d,%d]}`, name, dtypeName(n.Tensor.DType()), shape, start, end)
		start = end
	}
	text = append(text, '}')
	for len(text)%8 != 0 {
		text = append(text, ' ')
	}
	if len(text) > MaxHeader {
		return nil, fmt.Errorf("safetensors: the header takes %d bytes, the limit is %d", len(text), MaxHeader)
	}
	return text, nil
}

// encodeMetadata returns the notes with their keys in order. Text that JSON
// cannot hold is an error: json.Marshal would replace it.
func encodeMetadata(metadata map[string]string) ([]byte, error) {
	for key, value := range metadata {
		if !utf8.ValidString(key) || !utf8.ValidString(value) {
			return nil, fmt.Errorf("safetensors: metadata %q: %q is not UTF-8", key, value)
		}
	}
	return json.Marshal(metadata)
}

// dataBytes returns how many bytes a tensor's values take.
func dataBytes(n Named) (int, error) {
	size := n.Tensor.DType().Size()
	if n.Tensor.Len() > math.MaxInt/size {
		return 0, fmt.Errorf("safetensors: tensor %q of shape %v has more bytes than an int can count", n.Name, n.Tensor.Shape())
	}
	return n.Tensor.Len() * size, nil
}

func dtypeName(dtype tensor.DType) string {
	for name, d := range dtypeNames {
		if d == dtype {
			return name
		}
	}
	panic("safetensors: unknown dtype") // every DType has a name
}

// fileBytes returns the logical values of t in the file's byte order.
func fileBytes(t *tensor.Tensor) []byte {
	bytes := tensor.Bytes(t)
	if !littleEndian {
		return swapped(bytes, t.DType().Size())
	}
	return bytes
}
