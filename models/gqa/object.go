package gqa

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/stria-ml/stria/internal/strictjson"
)

// object is a JSON object: names exactly as written, values not yet read.
type object struct {
	path   string // of the object in the file, for errors: "" or "rope_scaling."
	fields map[string]json.RawMessage
}

// parseObject reads one object and nothing after it.
func parseObject(path string, data []byte) (object, error) {
	if text := bytes.TrimSpace(data); len(text) == 0 || text[0] != '{' {
		return object{}, fmt.Errorf("want a JSON object, found %s", excerpt(data))
	}
	fields, err := strictjson.Fields(data)
	return object{path, fields}, err
}

// has reports whether a field is there and not null.
func (o object) has(name string) bool {
	value, ok := o.fields[name]
	return ok && string(value) != "null"
}

// read stores a field in dst, a pointer to a Go value of the kind that want
// names. A field that is absent or null leaves dst as it is.
func (o object) read(name, want string, dst any) error {
	if !o.has(name) {
		return nil
	}
	if err := json.Unmarshal(o.fields[name], dst); err != nil {
		return fieldError(o.path+name, want, excerpt(o.fields[name]))
	}
	return nil
}

// need is read for a field that must be there.
func (o object) need(name, want string, dst any) error {
	if !o.has(name) {
		return fieldError(o.path+name, want, "nothing")
	}
	return o.read(name, want, dst)
}

// child returns the object in a field.
func (o object) child(name string) (object, error) {
	c, err := parseObject(o.path+name+".", o.fields[name])
	if err != nil {
		return c, fmt.Errorf("gqa: config: %s%s: %w", o.path, name, err)
	}
	return c, nil
}

// excerpt returns the beginning of a JSON text, for errors.
func excerpt(data []byte) string {
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
