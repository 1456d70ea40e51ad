package tokenizer

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

func TestSaveForm(t *testing.T) {
	chars, err := NewChars("b\n\"\u00e9\xff")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		tok  Tokenizer
		want string
	}{
		{Bytes{}, `{"stria": "tokenizer", "version": 1, "kind": "bytes"}` + "\n"},
		{chars, `{"stria": "tokenizer", "version": 1, "kind": "chars", "tokens": ["\n", "\"", "b", "é", 255]}` + "\n"},
	} {
		var buf bytes.Buffer
		if err := Save(&buf, row.tok); err != nil {
			t.Fatal(err)
		}
		if buf.String() != row.want {
			t.Errorf("saved %s, want %s", buf.String(), row.want)
		}
	}
}

func TestSaveLoadProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		chars, err := NewChars(textGenerator().Draw(t, "text"))
		if err != nil {
			t.Fatal(err)
		}
		checkSaveLoad(t, chars)
	})
	checkSaveLoad(t, Bytes{})
}

// checkSaveLoad fails unless tok comes back from its file form as it was.
func checkSaveLoad(t interface{ Fatalf(string, ...any) }, tok Tokenizer) {
	var buf bytes.Buffer
	if err := Save(&buf, tok); err != nil {
		t.Fatalf("Save: %v", err)
	}
	back, err := Load(bytes.NewReader(buf.Bytes()))
	if err != nil {
		t.Fatalf("Load of %s: %v", buf.Bytes(), err)
	}
	if !reflect.DeepEqual(back, tok) {
		t.Fatalf("%+v came back as %+v", tok, back)
	}
}

// The ids are the places in the list, whatever their order.
func TestParseKeepsOrder(t *testing.T) {
	tok, err := Parse([]byte(` {"tokens":["b",200,"\u0061","\ud83d\ude00","\uFFFD"],"kind":"chars","version":1,"stria":"tokenizer"} `))
	if err != nil {
		t.Fatal(err)
	}
	text, err := tok.Decode([]int64{0, 1, 2, 3, 4})
	if want := "b\xc8a\U0001F600\uFFFD"; err != nil || text != want {
		t.Errorf("decoded %q, %v, want %q", text, err, want)
	}
}

func TestParseRefuses(t *testing.T) {
	chars := func(tokens string) string {
		return `{"stria":"tokenizer","version":1,"kind":"chars","tokens":` + tokens + `}`
	}
	for _, row := range []struct{ name, file, want string }{
		{"empty file", ``, "not a JSON object"},
		{"a list", `[]`, "not a JSON object"},
		{"text", `hello`, "not a JSON object"},
		{"invalid UTF-8", "{\"stria\":\"\xff\"}", "not valid UTF-8"},
		{"empty object", `{}`, `the key "stria" is missing`},
		{"no version", `{"stria":"tokenizer","kind":"bytes"}`, `the key "version" is missing`},
		{"no kind", `{"stria":"tokenizer","version":1}`, `the key "kind" is missing`},
		{"no tokens", `{"stria":"tokenizer","version":1,"kind":"chars"}`, `needs the key "tokens"`},
		{"other format", `{"stria":"model","version":1,"kind":"bytes"}`, `"stria" is "model"`},
		{"format no string", `{"stria":1,"version":1,"kind":"bytes"}`, `"stria" is 1: want a string`},
		{"newer version", `{"stria":"tokenizer","version":2,"kind":"bytes"}`, `"version" is 2`},
		{"version as a fraction", `{"stria":"tokenizer","version":1.0,"kind":"bytes"}`, `"version" is 1.0`},
		{"unknown kind", `{"stria":"tokenizer","version":1,"kind":"words"}`, `unknown kind "words"`},
		{"kind in another case", `{"stria":"tokenizer","version":1,"kind":"Bytes"}`, `unknown kind "Bytes"`},
		{"kind null", `{"stria":"tokenizer","version":1,"kind":null}`, "want a string"},
		{"key in another case", `{"Stria":"tokenizer","version":1,"kind":"bytes"}`, `unknown key "Stria"`},
		{"Hugging Face file", `{"version":"1.0","truncation":null}`, `unknown key "truncation"`},
		{"repeated key", `{"stria":"tokenizer","version":1,"kind":"bytes","kind":"bytes"}`, `"kind" is repeated`},
		{"tokens for bytes", `{"stria":"tokenizer","version":1,"kind":"bytes","tokens":[]}`, `takes no key "tokens"`},
		{"truncated", `{"stria":"tokenizer","version":1`, "does not end"},
		{"truncated list", `{"stria":"tokenizer","version":1,"kind":"chars","tokens":["a"`, `key "tokens"`},
		{"more after", `{"stria":"tokenizer","version":1,"kind":"bytes"}{}`, "more after"},
		{"tokens no list", chars(`"abc"`), "no list"},
		{"tokens null", chars(`null`), "no list"},
		{"no token", chars(`[]`), "empty"},
		{"repeated token", chars(`["a","b","\u0061"]`), `tokens 0 and 2 are both 'a' (U+0061)`},
		{"repeated wide token", chars(`["é","é"]`), `tokens 0 and 1 are both 'é' (U+00E9)`},
		{"repeated byte", chars(`[200,200]`), `tokens 0 and 1 are both byte 0xC8`},
		{"empty token", chars(`[""]`), "exactly one character"},
		{"long token", chars(`["a","ab"]`), "token 1 is \"ab\": want exactly one character"},
		{"low byte", chars(`[65]`), "token 0 is 65"},
		{"large number", chars(`[256]`), "token 0 is 256"},
		{"negative number", chars(`[-1]`), "token 0 is -1"},
		{"fraction", chars(`[200.5]`), "token 0 is 200.5"},
		{"huge number", chars(`[99999999999999999999]`), "token 0 is 99999999999999999999"},
		{"null token", chars(`[null]`), "token 0 is null"},
		{"nested token", chars(`[["a"]]`), `token 0 is ["a"]`},
		{"half a surrogate pair", chars(`["\ud83d"]`), "surrogate"},
	} {
		t.Run(row.name, func(t *testing.T) {
			tok, err := Parse([]byte(row.file))
			if err == nil {
				t.Fatalf("Parse succeeded with %v", tok)
			}
			if !strings.Contains(err.Error(), row.want) {
				t.Errorf("error %q does not contain %q", err, row.want)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q has several lines", err)
			}
		})
	}
}

func TestLoadIsLimited(t *testing.T) {
	if _, err := Load(endless{}); err == nil || !strings.Contains(err.Error(), "67108864 bytes") {
		t.Errorf("Load of an endless file: %v", err)
	}
	if _, err := Load(iotest.ErrReader(fs.ErrClosed)); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Load of a failing reader: %v", err)
	}
}

// endless is a reader that never ends.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func TestSaveRefuses(t *testing.T) {
	var buf bytes.Buffer
	if err := Save(&buf, other{}); err == nil || !strings.Contains(err.Error(), `"other"`) {
		t.Errorf("Save of another kind: %v", err)
	}
	if buf.Len() != 0 {
		t.Errorf("Save of another kind wrote %q", buf.String())
	}
	if err := Save(failing{}, Bytes{}); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("Save to a failing writer: %v", err)
	}
}

type other struct{ Bytes }

func (other) Kind() string { return "other" }

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, fs.ErrPermission }

func TestLoadFile(t *testing.T) {
	dir := t.TempDir()
	good, bad := filepath.Join(dir, FileName), filepath.Join(dir, "bad.json")
	write(t, good, `{"stria":"tokenizer","version":1,"kind":"chars","tokens":["x"]}`)
	write(t, bad, `{}`)
	if tok, err := LoadFile(good); err != nil || tok.Size() != 1 {
		t.Errorf("LoadFile = %v, %v", tok, err)
	}
	for _, path := range []string{bad, dir, filepath.Join(dir, "missing.json")} {
		if _, err := LoadFile(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("LoadFile(%q): error %v does not name the file", path, err)
		}
	}
	if _, err := LoadFile(filepath.Join(dir, "missing.json")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v, want fs.ErrNotExist", err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"stria":"tokenizer","version":1,"kind":"bytes"}`))
	f.Add([]byte(`{"stria":"tokenizer","version":1,"kind":"chars","tokens":["\n","a",255,"\ud83d\ude00"]}`))
	f.Add([]byte(`{"stria":"tokenizer","version":1,"kind":"chars","tokens":[["a"],{"b":1}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		tok, err := Parse(data)
		if err != nil {
			return
		}
		checkSaveLoad(t, tok)
		ids := make([]int64, tok.Size())
		for i := range ids {
			ids[i] = int64(i)
			if text, err := tok.Decode(ids[i : i+1]); err != nil {
				t.Fatalf("token %d: %v", i, err)
			} else {
				checkRoundTrip(t, tok, text)
			}
		}
	})
}
