package strictjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// Decode stores the value that text is, and nothing after it, in what value
// points to. A name must be that of a field, letter case and all.
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
	if err := checkNames(json.NewDecoder(bytes.NewReader(whole)), reflect.TypeOf(value)); err != nil {
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
	}
	return nil
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
		inner, ok := known[name]
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
	_, err := d.Token()
	return err
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

// fieldsOf returns the types of a struct's fields by their names in JSON; other
// types have nil. Embedded structs are not looked into.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	if t = plain(t); t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	fields := map[string]reflect.Type{}
	for i := range t.NumField() {
		field := t.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" {
			name = field.Name
		}
		if field.IsExported() && name != "-" {
			fields[name] = field.Type
		}
	}
	return fields
}
