// Package strictjson reads JSON as it stands. encoding/json takes names that
// come twice, in any letter case, and text that is not Unicode; here these are
// errors.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"
)

// CheckText refuses text whose strings would not be read as they stand.
func CheckText(text []byte) error {
	if !utf8.Valid(text) {
		return errors.New("the text is not UTF-8")
	}
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		unit, ok := escapedUnit(text[i:])
		if !ok {
			i++ // the escape of one byte
			continue
		}
		i += 5
		if unit < 0xD800 || unit > 0xDFFF {
			continue
		}
		low, ok := escapedUnit(text[i+1:])
		if unit > 0xDBFF || !ok || low < 0xDC00 || low > 0xDFFF {
			return fmt.Errorf("\\u%04x at byte %d is half a character", unit, i-5)
		}
		i += 6
	}
	return nil
}

// escapedUnit decodes text that begins with \uXXXX.
func escapedUnit(text []byte) (unit uint64, ok bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	unit, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	return unit, err == nil
}

// Object reads an object and calls field for each name, all of them different;
// field reads the value.
func Object(d *json.Decoder, field func(name string) error) error {
	if err := Delimiter(d, '{'); err != nil {
		return err
	}
	seen := map[string]bool{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return Cut(err)
		}
		name := token.(string) // the decoder refuses other names
		if seen[name] {
			return fmt.Errorf("%q is given twice", name)
		}
		seen[name] = true
		if err := field(name); err != nil {
			return Cut(err)
		}
	}
	return Delimiter(d, '}')
}

// Delimiter reads one of { } [ ].
func Delimiter(d *json.Decoder, want json.Delim) error {
	token, err := d.Token()
	if err != nil {
		return Cut(err)
	}
	if token != want {
		return fmt.Errorf("found %v, want %v", token, want)
	}
	return nil
}

// Cut names the end of the text in the middle of a value.
func Cut(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// End refuses what follows the value that d has read from text, but for space.
func End(d *json.Decoder, text []byte) error {
	if rest := bytes.TrimLeft(text[d.InputOffset():], " \t\r\n"); len(rest) > 0 {
		return fmt.Errorf("there is more after the JSON value, at byte %d", len(text)-len(rest))
	}
	return nil
}

// Fields returns the values, not yet read, of the object that text is.
func Fields(text []byte) (map[string]json.RawMessage, error) {
	if err := CheckText(text); err != nil {
		return nil, err
	}
	fields := map[string]json.RawMessage{}
	d := json.NewDecoder(bytes.NewReader(text))
	err := Object(d, func(name string) error {
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return fmt.Errorf("%q: %w", name, Cut(err))
		}
		fields[name] = value
		return nil
	})
	if err != nil {
		return nil, err
	}
	return fields, End(d, text)
}
