package safetensors

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"
)

// encoding/json takes names that come twice, in any letter case, and text that
// is not Unicode, so headers and indexes are read token by token.

// checkText refuses JSON text whose strings would not be read as they stand.
func checkText(text []byte) error {
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

// object reads an object and calls field for each key, all of them different;
// field reads the value.
func object(d *json.Decoder, field func(key string) error) error {
	if err := delimiter(d, '{'); err != nil {
		return err
	}
	seen := map[string]bool{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return cut(err)
		}
		key := token.(string) // the decoder refuses other keys
		if seen[key] {
			return fmt.Errorf("%q stands there twice", key)
		}
		seen[key] = true
		if err := field(key); err != nil {
			return cut(err)
		}
	}
	return delimiter(d, '}')
}

func delimiter(d *json.Decoder, want json.Delim) error {
	token, err := d.Token()
	if err != nil {
		return cut(err)
	}
	if token != want {
		return fmt.Errorf("found %v, want %v", token, want)
	}
	return nil
}

// cut names the end of the header in the middle of a value.
func cut(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// integers reads an array of at most most integers from 0 up.
func integers(d *json.Decoder, field string, most int) ([]int, error) {
	if err := delimiter(d, '['); err != nil {
		return nil, fmt.Errorf("%s: %w", field, err)
	}
	list := []int{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, err
		}
		number, ok := token.(json.Number)
		if !ok {
			return nil, fmt.Errorf("%s holds %v, want integers", field, token)
		}
		n, err := strconv.ParseUint(number.String(), 10, strconv.IntSize-1)
		if err != nil {
			return nil, fmt.Errorf("%s holds %s, want an integer from 0 to 2^%d-1", field, number, strconv.IntSize-1)
		}
		if len(list) == most {
			return nil, fmt.Errorf("%s has more than %d numbers", field, most)
		}
		list = append(list, int(n))
	}
	return list, delimiter(d, ']')
}
