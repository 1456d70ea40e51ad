package gqa

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"
)

// object is a JSON object: names exactly as written, values not yet read.
type object struct {
	path   string // of the object in the file, for errors: "" or "rope_scaling."
	fields map[string]json.RawMessage
}

// parseObject reads one object and nothing after it. Unlike encoding/json it
// refuses names that come twice and text that is not UTF-8.
func parseObject(path string, data []byte) (object, error) {
	o := object{path: path, fields: map[string]json.RawMessage{}}
	if !utf8.Valid(data) {
		return o, fmt.Errorf("not UTF-8 text")
	}
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return o, fmt.Errorf("want a JSON object, found %s", excerpt(data))
	}
	for d.More() {
		if err := o.field(d); err != nil {
			return o, err
		}
	}
	if _, err := d.Token(); err != nil {
		return o, fmt.Errorf("the JSON object does not end: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return o, fmt.Errorf("text after the JSON object")
	}
	return o, nil
}

// field reads a name and its value.
func (o *object) field(d *json.Decoder) error {
	t, err := d.Token()
	if err != nil {
		return fmt.Errorf("in a JSON object: %w", err)
	}
	name, ok := t.(string)
	if !ok {
		return fmt.Errorf("in a JSON object: want a name, found %v", t)
	}
	if _, twice := o.fields[name]; twice {
		return fmt.Errorf("%s%s: given twice", o.path, name)
	}
	var value json.RawMessage
	if err := d.Decode(&value); err != nil {
		return fmt.Errorf("%s%s: %w", o.path, name, err)
	}
	o.fields[name] = value
	return nil
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
