// Package modelconfig reads Hugging Face's config.json field by field, and has
// the error that says what is wrong with one.
package modelconfig

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/stria-ml/stria/internal/strictjson"
)

// Object is a JSON object: names exactly as written, values not yet read.
type Object struct {
	model  string // of errors
	path   string // of the object in the file, for errors: "" or "rope_scaling."
	fields map[string]json.RawMessage
}

// Parse reads a config, one object and nothing after it, of a model family.
func Parse(model string, data []byte) (Object, error) { return parse(model, "", data) }

func parse(model, path string, data []byte) (Object, error) {
	o := Object{model: model, path: path}
	wrong := &Error{Kind: ErrMalformed, Model: model, Field: strings.TrimSuffix(path, ".")}
	if text := bytes.TrimSpace(data); len(text) == 0 || text[0] != '{' {
		wrong.Want, wrong.Found = "a JSON object", Excerpt(data)
		return o, wrong
	}
	if o.fields, wrong.Err = strictjson.Fields(data); wrong.Err != nil {
		return o, wrong
	}
	return o, nil
}

// Has reports whether a field is there and not null.
func (o Object) Has(name string) bool {
	value, ok := o.fields[name]
	return ok && string(value) != "null"
}

// Given reports whether a field is there, null or not.
func (o Object) Given(name string) bool {
	_, ok := o.fields[name]
	return ok
}

// Raw returns the text of a field, or nil.
func (o Object) Raw(name string) json.RawMessage { return o.fields[name] }

// Fields returns all fields.
func (o Object) Fields() map[string]json.RawMessage { return o.fields }

// Read stores a field in dst, a pointer to a Go value of the kind that want
// names. A field that is absent or null leaves dst as it is.
func (o Object) Read(name, want string, dst any) error {
	if !o.Has(name) {
		return nil
	}
	if err := json.Unmarshal(o.fields[name], dst); err != nil {
		return o.Wrong(ErrType, name, want, Excerpt(o.fields[name]))
	}
	return nil
}

// Need is Read for a field that must be there.
func (o Object) Need(name, want string, dst any) error {
	if !o.Has(name) {
		return o.Wrong(ErrMissing, name, want, "nothing")
	}
	return o.Read(name, want, dst)
}

// Child returns the object in a field.
func (o Object) Child(name string) (Object, error) {
	return parse(o.model, o.path+name+".", o.fields[name])
}

// Wrong returns an error about a field.
func (o Object) Wrong(kind Kind, name, want string, found any) error {
	return &Error{Kind: kind, Model: o.model, Field: o.path + name, Want: want, Found: found}
}

// First returns the first error there is.
func First(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Quote returns s in quotation marks, for errors.
func Quote(s string) string { return fmt.Sprintf("%q", s) }

// Excerpt returns the beginning of a JSON text, for errors.
func Excerpt(data []byte) string {
	const most = 40
	data = bytes.TrimSpace(data)
	if len(data) == 0 {
		return "nothing"
	}
	if len(data) > most {
		return string(bytes.ToValidUTF8(data[:most], nil)) + "..."
	}
	return string(data)
}
