package safetensors

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sort"

	"github.com/stria-ml/stria/internal/strictjson"
	"github.com/stria-ml/stria/tensor"
)

// MaxHeader is the largest header that is read, in bytes: that of the
// reference implementation.
const MaxHeader = 100_000_000

// prefix is the length of the header's length, in bytes.
const prefix = 8

// Info describes one tensor of a file.
type Info struct {
	Name  string
	DType tensor.DType
	Shape []int
	Start int // first byte, from the end of the header
	End   int // behind the last byte
}

var dtypeNames = map[string]tensor.DType{
	"F32": tensor.Float32, "F64": tensor.Float64, "I64": tensor.Int64, "BOOL": tensor.Bool,
	"F16": tensor.Float16, "BF16": tensor.BFloat16, "I32": tensor.Int32, "U8": tensor.Uint8,
}

// header is a decoded header.
type header struct {
	infos    []Info // by Start
	index    map[string]int
	metadata map[string]string
}

// headerLength reads the length of the header of a file of size bytes.
func headerLength(first []byte, size int64) (int, error) {
	if size < prefix || len(first) < prefix {
		return 0, fmt.Errorf("%d bytes: the header's length alone takes %d; is this a safetensors file?", size, prefix)
	}
	n := binary.LittleEndian.Uint64(first)
	if n > MaxHeader {
		return 0, fmt.Errorf("the header's length is %d bytes, the limit %d; is this a safetensors file?", n, MaxHeader)
	}
	if int64(n) > size-prefix {
		return 0, fmt.Errorf("the header's length is %d bytes, but %d follow it; is this a safetensors file, and all of it?", n, size-prefix)
	}
	return int(n), nil
}

// parseHeader decodes and checks the header of a file with dataSize bytes of
// data.
func parseHeader(text []byte, dataSize int64) (*header, error) {
	if len(text) == 0 || text[0] != '{' {
		return nil, errors.New("the header does not start with '{'; is this a safetensors file?")
	}
	if err := strictjson.CheckText(text); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	h := &header{index: map[string]int{}}
	if err := h.decode(d); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	if rest := bytes.TrimRight(text[d.InputOffset():], " "); len(rest) > 0 {
		return nil, fmt.Errorf("header: %d bytes after its end", len(rest))
	}
	if err := h.checkRanges(dataSize); err != nil {
		return nil, err
	}
	return h, nil
}

// decode reads the header token by token: encoding/json would accept names
// twice and in any letter case.
func (h *header) decode(d *json.Decoder) error {
	return strictjson.Object(d, func(name string) error {
		if name == "__metadata__" {
			h.metadata = map[string]string{}
			return h.decodeMetadata(d)
		}
		info, err := decodeInfo(d)
		if err != nil {
			return fmt.Errorf("tensor %q: %w", name, err)
		}
		info.Name = name
		h.index[name] = len(h.infos)
		h.infos = append(h.infos, info)
		return nil
	})
}

func (h *header) decodeMetadata(d *json.Decoder) error {
	return strictjson.Object(d, func(key string) error {
		token, err := d.Token()
		if err != nil {
			return err
		}
		text, ok := token.(string)
		if !ok {
			return fmt.Errorf("__metadata__: %q is %v, want a string", key, token)
		}
		h.metadata[key] = text
		return nil
	})
}

// decodeInfo reads {"dtype": ..., "shape": [...], "data_offsets": [..., ...]}.
func decodeInfo(d *json.Decoder) (Info, error) {
	var info Info
	var offsets []int
	seen := map[string]bool{}
	err := strictjson.Object(d, func(key string) (err error) {
		seen[key] = true
		switch key {
		case "dtype":
			info.DType, err = decodeDType(d)
		case "shape":
			info.Shape, err = integers(d, "shape", tensor.MaxDims)
		case "data_offsets":
			offsets, err = integers(d, "data_offsets", 2)
		default:
			err = fmt.Errorf("unknown field %q", key)
		}
		return err
	})
	if err != nil {
		return info, err
	}
	for _, key := range [...]string{"dtype", "shape", "data_offsets"} {
		if !seen[key] {
			return info, fmt.Errorf("field %q is missing", key)
		}
	}
	if len(offsets) != 2 {
		return info, fmt.Errorf("data_offsets has %d numbers, want 2", len(offsets))
	}
	info.Start, info.End = offsets[0], offsets[1]
	return info, checkSize(info)
}

func decodeDType(d *json.Decoder) (tensor.DType, error) {
	token, err := d.Token()
	if err != nil {
		return 0, err
	}
	name, ok := token.(string)
	if !ok {
		return 0, fmt.Errorf("dtype is %v, want a string", token)
	}
	dtype, known := dtypeNames[name]
	if !known {
		return 0, fmt.Errorf("dtype %q is not supported", name)
	}
	return dtype, nil
}

// checkSize checks that the range has the bytes that dtype and shape take.
func checkSize(info Info) error {
	if info.End < info.Start {
		return fmt.Errorf("data_offsets [%d, %d] end before they start", info.Start, info.End)
	}
	bytes := info.DType.Size()
	empty := false
	for _, extent := range info.Shape {
		if extent == 0 {
			empty = true
			continue
		}
		if bytes > math.MaxInt/extent { // also in an empty shape: views may lose the zero
			return fmt.Errorf("shape %v of %v has more bytes than an int can count", info.Shape, info.DType)
		}
		bytes *= extent
	}
	if empty {
		bytes = 0
	}
	if bytes != info.End-info.Start {
		return fmt.Errorf("data_offsets [%d, %d] span %d bytes, but %v %v takes %d",
			info.Start, info.End, info.End-info.Start, info.DType, info.Shape, bytes)
	}
	return nil
}

// checkRanges checks that the ranges cover the data once.
func (h *header) checkRanges(dataSize int64) error {
	sort.SliceStable(h.infos, func(i, j int) bool {
		a, b := h.infos[i], h.infos[j]
		return a.Start < b.Start || a.Start == b.Start && a.End < b.End
	})
	next := 0
	for i, info := range h.infos {
		switch {
		case info.Start > next:
			return fmt.Errorf("tensor %q starts at byte %d, which leaves a hole of %d bytes", info.Name, info.Start, info.Start-next)
		case info.Start < next:
			return fmt.Errorf("tensor %q starts at byte %d, inside tensor %q, which ends at %d", info.Name, info.Start, h.infos[i-1].Name, next)
		}
		next = info.End
		h.index[info.Name] = i
	}
	if int64(next) != dataSize {
		return fmt.Errorf("the tensors take %d bytes of data, the file has %d", next, dataSize)
	}
	return nil
}
