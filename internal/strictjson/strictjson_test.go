package strictjson_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/stria-ml/stria/internal/strictjson"
)

type inner struct {
	Size int `json:"size,omitempty"`
}

type outer struct {
	Name   string           `json:"name,omitempty"`
	Inner  inner            `json:",omitempty"`
	List   []inner          `json:"list,omitempty"`
	ByName map[string]inner `json:"by_name,omitempty"`
	Later  json.RawMessage  `json:"later,omitempty"`
	Hidden int              `json:"-"`
}

func TestDecode(t *testing.T) {
	const text = ` {"name": "\ud83d\ude00é\\u", "Inner": {"size": 1}, "list": [{"size": 2}, {}], "by_name": {"A": {"size": 3}, "a": {}}, "later": {"X": [1]}}` + "\n"
	var got outer
	if err := strictjson.Decode([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	want := outer{
		Name: "😀é\\u", Inner: inner{1}, List: []inner{{2}, {}}, ByName: map[string]inner{"A": {3}, "a": {}}, Later: json.RawMessage(`{"X": [1]}`),
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestDecodeRefuses(t *testing.T) {
	for text, want := range map[string]string{
		``:                                   "unexpected EOF",
		"  ":                                 "unexpected EOF",
		`{"name": "a"`:                       "unexpected EOF",
		`{"name": "a"}{}`:                    "more after the JSON value, at byte 13",
		`{"name": "a"} x`:                    "more after the JSON value, at byte 14",
		`{"name": "a",}`:                     "invalid character",
		`{"name": 1}`:                        "cannot unmarshal number",
		`[]`:                                 "cannot unmarshal array",
		`{"Name": "a"}`:                      `unknown field "Name"`,
		`{"inner": {}}`:                      `unknown field "inner"`,
		`{"Hidden": 1}`:                      `unknown field "Hidden"`,
		`{"-": 1}`:                           `unknown field "-"`,
		`{"name": "a", "name": "b"}`:         `"name" is given twice`,
		`{"name": "a", "n\u0061me": "b"}`:    `"name" is given twice`,
		`{"Inner": {"size": 1, "size": 2}}`:  `Inner: "size" is given twice`,
		`{"list": [{}, {"SIZE": 1}]}`:        `list: unknown field "SIZE"`,
		`{"by_name": {"A": 1, "A": 1}}`:      `by_name: "A" is given twice`,
		`{"by_name": {"A": {"Size": 1}}}`:    `by_name: A: unknown field "Size"`,
		`{"later": {"x": {"y": 1, "y": 2}}}`: `later: x: "y" is given twice`,
		"{\"name\": \"\xff\"}":               "not UTF-8",
		`{"name": "\ud800"}`:                 "half a character",
		`{"name": "\ud800\u0041"}`:           "half a character",
		`{"name": "\udc00\ud800"}`:           "half a character",
		strings.Repeat("[", 100000):          "exceeded max depth",
	} {
		var value outer
		if err := strictjson.Decode([]byte(text), &value); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: error %v, want one with %q", text, err, want)
		}
	}
}

// TestDecodeWantsAll leaves out fields, and gives null for them.
func TestDecodeWantsAll(t *testing.T) {
	type all struct {
		Size  int             `json:"size"`
		Inner inner           `json:"inner"`
		List  []int           `json:"list"`
		Share *float64        `json:"share"`
		Later json.RawMessage `json:"later"`
	}
	var got all
	if err := strictjson.Decode([]byte(`{"size": 1, "inner": {}, "list": null, "share": null, "later": null}`), &got); err != nil {
		t.Error(err)
	}
	for text, want := range map[string]string{
		`{}`: `missing: "inner", "later", "list", "share", "size"`,
		`{"inner": {}, "list": [], "share": 1, "later": 1}`:                `missing: "size"`,
		`{"size": null, "inner": {}, "list": [], "share": 1, "later": 1}`:  "size: found null, want a value",
		`{"size": 1, "inner": null, "list": [], "share": 1, "later": 1}`:   "inner: found null, want a value",
		`{"size": 1, "inner": {}, "list": [null], "share": 1, "later": 1}`: "list: found null, want a value",
		`null`: "found null, want a value",
	} {
		if err := strictjson.Decode([]byte(text), &got); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", text, err, want)
		}
	}
}

func TestFields(t *testing.T) {
	fields, err := strictjson.Fields([]byte(`{"a": {"b": 1, "b": 2}, "A": null}`)) // values are not yet read
	if err != nil || len(fields) != 2 || string(fields["a"]) != `{"b": 1, "b": 2}` || string(fields["A"]) != "null" {
		t.Errorf("%q, %v", fields, err)
	}
	for text, want := range map[string]string{
		``: "unexpected EOF", `{`: "unexpected EOF", `{"a":`: "unexpected EOF", `{"a": 1`: "unexpected EOF", `[1]`: "found [, want {",
		`{"a": 1}{}`: "more after", `{"a": 1, "a": 1}`: `"a" is given twice`, `{"a": nul}`: `"a": invalid character`, "{\"\xff\": 1}": "UTF-8",
	} {
		if _, err := strictjson.Fields([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", text, err, want)
		}
	}
}

// FuzzDecode compares with encoding/json: what is taken is the same value, and
// what encoding/json refuses is refused.
func FuzzDecode(f *testing.F) {
	for _, text := range []string{`{}`, `{"name":"a","list":[{"size":1}]}`, `null`, `{"later":[[{"a":1,"a":2}]]}`, `{"by_name":{"\ud83d\ude00":{}}}`, `[{]`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var got, want outer
		if strictjson.Decode([]byte(text), &got) != nil {
			return
		}
		if err := json.Unmarshal([]byte(text), &want); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, want %+v, %v", text, got, want, err)
		}
	})
}
