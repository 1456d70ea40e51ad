package strictjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Decode stores the value that text is, and nothing after it, in what value
// points to. A name must be that of a field, letter case and all; every field
// must be there, but those with omitempty, and only what can be nil may be null.
func Decode(text []byte, value any) error {
	if err := CheckText(text); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	var whole json.RawMessage // which bounds the depth as well
	switch err := d.Decode(&whole); {
	case err == io.EOF:
		return io.ErrUnexpectedEOF
	case err != nil:
		return err
	}
	if err := End(d, text); err != nil {
		return err
	}
	if err := checkNames(json.NewDecoder(bytes.NewReader(whole)), reflect.TypeOf(value).Elem()); err != nil {
		return err
	}
	return json.Unmarshal(whole, value)
}

// checkNames reads a value that is valid JSON and refuses names that come
// twice, or that the struct it is meant for does not have.
func checkNames(d *json.Decoder, t reflect.Type) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	switch token {
	case json.Delim('['):
		return checkElements(d, elementOf(t))
	case json.Delim('{'):
		return checkFields(d, t)
	case nil:
		return checkNull(t)
	}
	return nil
}

// checkNull refuses null for what encoding/json would leave at zero.
func checkNull(t reflect.Type) error {
	if t == nil || t.Kind() == reflect.Pointer || plain(t) == nil {
		return nil
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Map, reflect.Interface:
		return nil
	}
	return fmt.Errorf("found null, want a value")
}

func checkElements(d *json.Decoder, element reflect.Type) error {
	for d.More() {
		if err := checkNames(d, element); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

func checkFields(d *json.Decoder, t reflect.Type) error {
	known := fieldsOf(t)
	seen := map[string]bool{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return err
		}
		name := token.(string)
		field, ok := known[name]
		inner := field.of
		switch {
		case seen[name]:
			return fmt.Errorf("%q is given twice", name)
		case known != nil && !ok:
			return fmt.Errorf("unknown field %q", name)
		case known == nil:
			inner = elementOf(t)
		}
		seen[name] = true
		if err := checkNames(d, inner); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if _, err := d.Token(); err != nil {
		return err
	}
	return checkMissing(known, seen)
}

// checkMissing refuses an object without a field that it must have.
func checkMissing(known map[string]field, seen map[string]bool) error {
	var missing []string
	for name, f := range known {
		if !f.optional && !seen[name] {
			missing = append(missing, strconv.Quote(name))
		}
	}
	if missing == nil {
		return nil
	}
	slices.Sort(missing)
	return fmt.Errorf("missing: %s", strings.Join(missing, ", "))
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// plain returns the type that a value of type t is read into, or nil where the
// type itself says how it is read.
func plain(t reflect.Type) reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil || t.Implements(unmarshaler) || reflect.PointerTo(t).Implements(unmarshaler) {
		return nil
	}
	return t
}

// elementOf returns the type of what a list or a map holds, or nil.
func elementOf(t reflect.Type) reflect.Type {
	if t = plain(t); t != nil {
		switch t.Kind() {
		case reflect.Slice, reflect.Array, reflect.Map:
			return t.Elem()
		}
	}
	return nil
}

// field is a field of a struct.
type field struct {
	of       reflect.Type
	optional bool // left out of JSON where it is empty
}

// fieldsOf returns a struct's fields by their names in JSON; other types have
// nil. Embedded structs are not looked into.
func fieldsOf(t reflect.Type) map[string]field {
	if t = plain(t); t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	fields := map[string]field{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			name = f.Name
		}
		if f.IsExported() && name != "-" {
			optional := slices.Contains(strings.Split(options, ","), "omitempty")
			fields[name] = field{of: f.Type, optional: optional}
		}
	}
	return fields
}
