package safetensors_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stria-ml/stria/checkpoints/safetensors"
)

// file returns a file of this header and that many bytes of data.
func file(header string, data int) []byte {
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(out, header...), make([]byte, data)...)
}

// withLength returns a file whose header's length is as stated.
func withLength(length uint64, rest string) []byte {
	return append(binary.LittleEndian.AppendUint64(nil, length), rest...)
}

// refusals are files that break a rule, and what the error says about it.
var refusals = []struct {
	name    string
	content []byte
	want    []string
}{
	{"empty file", nil, []string{"0 bytes", "takes 8"}},
	{"shorter than the length", []byte{1, 2, 3}, []string{"3 bytes", "takes 8"}},
	{"header behind the end", withLength(100, "{}"), []string{"100 bytes", "2 follow", "is this a safetensors file"}},
	{"header of 100 MB and a byte", withLength(100_000_001, "{}"), []string{"100000001", "limit 100000000"}},
	{"header of 2^64-1 bytes", withLength(1<<64-1, "{}"), []string{"18446744073709551615", "is this a safetensors file?"}},
	{"header of 2^63 bytes", withLength(1<<63, "{}"), []string{"9223372036854775808"}},
	{"no header", file("", 0), []string{"'{'"}},
	{"a text file", []byte("a text that is no header\n"), []string{"is this a safetensors file?"}},
	{"space before the header", file(" {}", 0), []string{"'{'"}},
	{"an array", file("[]", 0), []string{"'{'"}},
	{"header cut short", file(`{"a":{"dtype":"F32"`, 0), []string{"unexpected EOF"}},
	{"header cut in a name", file(`{"a`, 0), []string{"unexpected EOF"}},
	{"text after the header", file(`{} {}`, 0), []string{"after its end"}},
	{"newline after the header", file("{}\n", 0), []string{"1 bytes after its end"}},
	{"not UTF-8", file("{\"\xff\":{}}", 0), []string{"UTF-8"}},
	{"half a character", file(`{"\ud800":{"dtype":"F32","shape":[],"data_offsets":[0,4]}}`, 4), []string{`\ud800`, "half a character"}},
	{"halves in the wrong order", file(`{"\udc00\ud800":{}}`, 0), []string{`\udc00`}},
	{"name twice", file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}`, 2), []string{`"a"`, "twice"}},
	{"name twice, once escaped", file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"\u0061":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}`, 2), []string{`"a"`, "twice"}},
	{"field twice", file(`{"a":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, 1), []string{`tensor "a"`, `"dtype"`, "twice"}},
	{"metadata twice", file(`{"__metadata__":{},"__metadata__":{}}`, 0), []string{"__metadata__", "twice"}},
	{"metadata key twice", file(`{"__metadata__":{"k":"1","k":"2"}}`, 0), []string{`"k"`, "twice"}},
	{"metadata of a number", file(`{"__metadata__":{"k":1}}`, 0), []string{`"k"`, "string"}},
	{"metadata of an object", file(`{"__metadata__":{"k":{}}}`, 0), []string{`"k"`, "string"}},
	{"metadata null", file(`{"__metadata__":null}`, 0), []string{"want {"}},
	{"other letter case", file(`{"a":{"DType":"U8","shape":[1],"data_offsets":[0,1]}}`, 1), []string{`tensor "a"`, `"DType"`}},
	{"unknown field", file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"x":1}}`, 1), []string{`tensor "a"`, `"x"`}},
	{"no dtype", file(`{"a":{"shape":[1],"data_offsets":[0,1]}}`, 1), []string{`tensor "a"`, `"dtype"`, "missing"}},
	{"no shape", file(`{"a":{"dtype":"U8","data_offsets":[0,1]}}`, 1), []string{`tensor "a"`, `"shape"`, "missing"}},
	{"no offsets", file(`{"a":{"dtype":"U8","shape":[1]}}`, 1), []string{`tensor "a"`, `"data_offsets"`, "missing"}},
	{"a tensor of a number", file(`{"a":1}`, 0), []string{`tensor "a"`, "want {"}},
	{"unknown dtype", file(`{"a":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]}}`, 1), []string{`tensor "a"`, "F8_E4M3"}},
	{"dtype in lower case", file(`{"a":{"dtype":"u8","shape":[1],"data_offsets":[0,1]}}`, 1), []string{`tensor "a"`, `"u8"`}},
	{"dtype of a number", file(`{"a":{"dtype":8,"shape":[1],"data_offsets":[0,1]}}`, 1), []string{`tensor "a"`, "dtype"}},
	{"extent of 1.0", file(`{"a":{"dtype":"U8","shape":[1.0],"data_offsets":[0,1]}}`, 1), []string{`tensor "a"`, "1.0"}},
	{"extent of 1e0", file(`{"a":{"dtype":"U8","shape":[1e0],"data_offsets":[0,1]}}`, 1), []string{`tensor "a"`, "1e0"}},
	{"extent below 0", file(`{"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,1]}}`, 1), []string{`tensor "a"`, "-1"}},
	{"extent of text", file(`{"a":{"dtype":"U8","shape":["1"],"data_offsets":[0,1]}}`, 1), []string{`tensor "a"`, "shape"}},
	{"extent null", file(`{"a":{"dtype":"U8","shape":[null],"data_offsets":[0,1]}}`, 1), []string{`tensor "a"`, "shape"}},
	{"extent of 2^63", file(`{"a":{"dtype":"U8","shape":[9223372036854775808],"data_offsets":[0,1]}}`, 1), []string{`tensor "a"`, "9223372036854775808"}},
	{"shape of a number", file(`{"a":{"dtype":"U8","shape":1,"data_offsets":[0,1]}}`, 1), []string{`tensor "a"`, "shape"}},
	{"65 dims", file(`{"a":{"dtype":"U8","shape":[1`+strings.Repeat(",1", 64)+`],"data_offsets":[0,1]}}`, 1), []string{`tensor "a"`, "more than"}},
	{"one offset", file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[1]}}`, 1), []string{`tensor "a"`, "1 numbers"}},
	{"three offsets", file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1,2]}}`, 1), []string{`tensor "a"`, "more than 2"}},
	{"offset below 0", file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[-1,0]}}`, 1), []string{`tensor "a"`, "-1"}},
	{"end before start", file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[1,0]}}`, 1), []string{`tensor "a"`, "[1, 0]"}},
	{"fewer bytes than the shape", file(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}`, 4), []string{`tensor "a"`, "span 4 bytes", "takes 8"}},
	{"more bytes than the shape", file(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,12]}}`, 12), []string{`tensor "a"`, "span 12 bytes", "takes 8"}},
	{"bytes of a 0-d tensor", file(`{"a":{"dtype":"F64","shape":[],"data_offsets":[0,4]}}`, 4), []string{`tensor "a"`, "takes 8"}},
	{"product beyond int", file(`{"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}}`, 0), []string{`tensor "a"`, "count"}},
	{"product of bytes beyond int", file(`{"a":{"dtype":"F32","shape":[4611686018427387904],"data_offsets":[0,0]}}`, 0), []string{`tensor "a"`, "count"}},
	{"product beyond int before a zero", file(`{"a":{"dtype":"F32","shape":[4294967296,4294967296,0],"data_offsets":[0,0]}}`, 0), []string{`tensor "a"`, "count"}},
	{"product beyond int behind a zero", file(`{"a":{"dtype":"F32","shape":[0,4294967296,4294967296],"data_offsets":[0,0]}}`, 0), []string{`tensor "a"`, "count"}},
	{"hole at the start", file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}`, 2), []string{`tensor "a"`, "byte 1", "hole of 1 bytes"}},
	{"hole between", file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"U8","shape":[1],"data_offsets":[4,5]}}`, 5), []string{`tensor "b"`, "byte 4", "hole of 3 bytes"}},
	{"overlap", file(`{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[4],"data_offsets":[3,7]}}`, 7), []string{`tensor "b"`, "byte 3", `tensor "a"`, "ends at 4"}},
	{"same bytes twice", file(`{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}`, 4), []string{`tensor "b"`, "byte 0", `tensor "a"`}},
	{"empty tensor inside another", file(`{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[0],"data_offsets":[2,2]}}`, 4), []string{`tensor "b"`, "byte 2"}},
	{"file shorter than stated", file(`{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}`, 3), []string{"take 4 bytes", "has 3"}},
	{"bytes left over", file(`{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}`, 5), []string{"take 4 bytes", "has 5"}},
	{"bytes without tensors", file(`{}`, 1), []string{"take 0 bytes", "has 1"}},
	{"offsets near 2^63", file(`{"a":{"dtype":"U8","shape":[7],"data_offsets":[9223372036854775800,9223372036854775807]}}`, 7), []string{`tensor "a"`, "hole"}},
}

// TestRefusals opens files that break a rule in each of the ways that there are
// to open one: the error names the file and says what is wrong.
func TestRefusals(t *testing.T) {
	for _, c := range refusals {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "model.safetensors")
			if err := os.WriteFile(path, c.content, 0o644); err != nil {
				t.Fatal(err)
			}
			_, openErr := safetensors.Open(path)
			_, parseErr := safetensors.Parse(path, c.content)
			_, _, headerErr := safetensors.ReadHeader(path)
			for way, err := range map[string]error{"Open": openErr, "Parse": parseErr, "ReadHeader": headerErr} {
				if err == nil {
					t.Errorf("%s took it", way)
					continue
				}
				for _, part := range append(c.want, path) {
					if !strings.Contains(err.Error(), part) {
						t.Errorf("%s: error %q does not say %q", way, err, part)
					}
				}
			}
		})
	}
}

// TestBoolBytes refuses bools that are neither 0 nor 1.
func TestBoolBytes(t *testing.T) {
	content := file(`{"flag":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}}`, 2)
	content[len(content)-1] = 2
	f, err := safetensors.Parse("flags", content)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = f.Tensor("flag"); err == nil || !strings.Contains(err.Error(), `"flag"`) || !strings.Contains(err.Error(), "is 2") {
		t.Errorf("error %v", err)
	}
}

// TestUnusual reads what is rare but allowed.
func TestUnusual(t *testing.T) {
	for name, content := range map[string][]byte{
		"no tensors":             file(`{}`, 0),
		"spaces after":           file(`{}      `, 0),
		"spaces and lines":       file("{ \"a\" : {\n\"shape\":[ 1 ],\t\"data_offsets\":[0 , 1],\"dtype\":\"U8\"} }", 1),
		"0-d":                    file(`{"a":{"dtype":"F32","shape":[],"data_offsets":[0,4]}}`, 4),
		"empty, last":            file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"I64","shape":[3,0,5],"data_offsets":[4,4]}}`, 4),
		"empty, between":         file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"e":{"dtype":"U8","shape":[0],"data_offsets":[1,1]},"b":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}`, 2),
		"unaligned":              file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"F64","shape":[1],"data_offsets":[1,9]}}`, 9),
		"empty name":             file(`{"":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, 1),
		"a pair of halves":       file(`{"\ud83d\ude00\\u":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, 1),
		"names by case":          file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"A":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}`, 2),
		"metadata in the middle": file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"__metadata__":{"k":"v"}}`, 1),
	} {
		f, err := safetensors.Parse(name, content)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, info := range f.Infos() {
			v, err := f.Tensor(info.Name)
			if err != nil || fmt.Sprint(v.Shape()) != fmt.Sprint(info.Shape) || v.DType() != info.DType {
				t.Errorf("%s: tensor %q: %v, %v", name, info.Name, v, err)
			}
		}
	}
}

// TestOpenElsewhere opens what is no file.
func TestOpenElsewhere(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{dir, filepath.Join(dir, "missing")} {
		if _, err := safetensors.Open(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("Open(%s): %v", path, err)
		}
		if _, _, err := safetensors.ReadHeader(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("ReadHeader(%s): %v", path, err)
		}
	}
}
