package tokenizer

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"unicode/utf8"
)

// FileName is the name of a tokenizer's file in a checkpoint folder. It differs
// from Hugging Face's tokenizer.json because the format does.
const FileName = "stria_tokenizer.json"

const (
	fileVersion  = 1
	maxFileBytes = 64 << 20
)

// Save writes t as JSON. Every token of a [*Chars] is a string of one character,
// or a number from 128 to 255 for a byte that is not valid UTF-8; its place in
// the list is its id:
//
//	{"stria": "tokenizer", "version": 1, "kind": "chars", "tokens": ["\n", "a", 255]}
//
// A [Bytes] has no tokens to list. Other kinds are an error.
func Save(w io.Writer, t Tokenizer) error {
	buf := bufio.NewWriter(w)
	fmt.Fprintf(buf, `{"stria": "tokenizer", "version": %d, "kind": %q`, fileVersion, t.Kind())
	switch t := t.(type) {
	case Bytes:
	case *Chars:
		if err := writeUnits(buf, t.units); err != nil {
			return err
		}
	default:
		return fmt.Errorf("tokenizer: cannot save a tokenizer of kind %q (%T): only bytes and chars have a file form", t.Kind(), t)
	}
	buf.WriteString("}\n")
	if err := buf.Flush(); err != nil {
		return fmt.Errorf("tokenizer: writing the file: %w", err)
	}
	return nil
}

func writeUnits(w *bufio.Writer, units []unit) error {
	w.WriteString(`, "tokens": [`)
	for i, u := range units {
		if i > 0 {
			w.WriteString(", ")
		}
		if u >= firstByte {
			w.WriteString(strconv.Itoa(int(u - firstByte)))
			continue
		}
		quoted, err := json.Marshal(string(u))
		if err != nil {
			return fmt.Errorf("tokenizer: writing token %d: %w", i, err)
		}
		w.Write(quoted)
	}
	w.WriteString("]")
	return nil
}

// Load reads what [Save] wrote. It reads at most 64 MiB.
func Load(r io.Reader) (Tokenizer, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFileBytes+1))
	if err != nil {
		return nil, fmt.Errorf("tokenizer: reading the file: %w", err)
	}
	return Parse(data)
}

// LoadFile reads the tokenizer file at path. Its errors name the file.
func LoadFile(path string) (Tokenizer, error) {
	info, err := os.Stat(path)
	if err != nil {
		var pathErr *fs.PathError
		if errors.As(err, &pathErr) {
			err = pathErr.Err
		}
		return nil, fmt.Errorf("tokenizer file %q: %w", path, err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("tokenizer file %q is not a regular file (%s)", path, info.Mode())
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("tokenizer file: %w", err)
	}
	defer f.Close()
	t, err := Load(f)
	if err != nil {
		return nil, fmt.Errorf("tokenizer file %q: %w", path, err)
	}
	return t, nil
}

// Parse reads a tokenizer file from memory. It is strict: unknown, repeated and
// missing keys, unknown kinds and versions, repeated tokens, invalid UTF-8 and
// anything after the object are errors.
func Parse(data []byte) (Tokenizer, error) {
	if len(data) > maxFileBytes {
		return nil, fmt.Errorf("tokenizer: the file has more than %d bytes", maxFileBytes)
	}
	fields, err := parseObject(data)
	if err != nil {
		return nil, err
	}
	if err := checkHeader(fields); err != nil {
		return nil, err
	}
	kind, err := stringField(fields, "kind")
	if err != nil {
		return nil, err
	}
	_, hasTokens := fields["tokens"]
	switch kind {
	case "bytes":
		if hasTokens {
			return nil, errors.New(`tokenizer: kind "bytes" takes no key "tokens"`)
		}
		return Bytes{}, nil
	case "chars":
		if !hasTokens {
			return nil, errors.New(`tokenizer: kind "chars" needs the key "tokens"`)
		}
		return parseChars(fields["tokens"])
	}
	return nil, fmt.Errorf(`tokenizer: unknown kind %q: want "bytes" or "chars"`, kind)
}

func checkHeader(fields map[string]json.RawMessage) error {
	format, err := stringField(fields, "stria")
	if err != nil {
		return err
	}
	if format != "tokenizer" {
		return fmt.Errorf(`tokenizer: key "stria" is %q: want "tokenizer"`, format)
	}
	version, ok := fields["version"]
	if !ok {
		return errors.New(`tokenizer: the key "version" is missing`)
	}
	if string(version) != strconv.Itoa(fileVersion) {
		return fmt.Errorf(`tokenizer: key "version" is %.20s: this program reads version %d`, version, fileVersion)
	}
	return nil
}

func stringField(fields map[string]json.RawMessage, key string) (string, error) {
	raw, ok := fields[key]
	if !ok {
		return "", fmt.Errorf("tokenizer: the key %q is missing", key)
	}
	if raw[0] != '"' {
		return "", fmt.Errorf("tokenizer: key %q is %.20s: want a string", key, raw)
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", fmt.Errorf("tokenizer: key %q: %w", key, err)
	}
	return s, nil
}

// parseObject splits a JSON object into its values by key. It reads token by
// token because encoding/json would take repeated keys, keys in another letter
// case, and invalid UTF-8.
func parseObject(data []byte) (map[string]json.RawMessage, error) {
	if !utf8.Valid(data) {
		return nil, errors.New("tokenizer: the file is not valid UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil, errors.New("tokenizer: the file is not a JSON object")
	}
	fields := make(map[string]json.RawMessage)
	for dec.More() {
		if err := parseField(dec, fields); err != nil {
			return nil, err
		}
	}
	if _, err := dec.Token(); err != nil {
		return nil, fmt.Errorf("tokenizer: the JSON object does not end: %w", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("tokenizer: there is more after the JSON object, at byte %d", dec.InputOffset())
	}
	return fields, nil
}

func parseField(dec *json.Decoder, fields map[string]json.RawMessage) error {
	token, err := dec.Token()
	if err != nil {
		return fmt.Errorf("tokenizer: reading a key: %w", err)
	}
	key, _ := token.(string)
	switch key {
	case "stria", "version", "kind", "tokens":
	default:
		return fmt.Errorf("tokenizer: unknown key %.40q: this is no stria tokenizer file", key)
	}
	if _, repeated := fields[key]; repeated {
		return fmt.Errorf("tokenizer: the key %q is repeated", key)
	}
	var value json.RawMessage
	if err := dec.Decode(&value); err != nil {
		return fmt.Errorf("tokenizer: key %q: %w", key, err)
	}
	fields[key] = value
	return nil
}

func parseChars(raw json.RawMessage) (*Chars, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if open, err := dec.Token(); err != nil || open != json.Delim('[') {
		return nil, errors.New(`tokenizer: key "tokens" is no list`)
	}
	var units []unit
	for dec.More() {
		if len(units) == maxUnits {
			return nil, fmt.Errorf("tokenizer: more than %d tokens", maxUnits)
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, fmt.Errorf("tokenizer: token %d: %w", len(units), err)
		}
		u, err := parseUnit(value)
		if err != nil {
			return nil, fmt.Errorf("tokenizer: token %d is %.20s: %w", len(units), value, err)
		}
		units = append(units, u)
	}
	if len(units) == 0 {
		return nil, errors.New(`tokenizer: key "tokens" is empty`)
	}
	return charsOf(units)
}

// parseUnit reads one token: a string of one character, or a byte as a number.
func parseUnit(raw json.RawMessage) (unit, error) {
	if raw[0] != '"' {
		b, err := strconv.ParseUint(string(raw), 10, 8)
		if err != nil || b < utf8.RuneSelf {
			return 0, errors.New("want a string of one character, or a byte from 128 to 255")
		}
		return firstByte + unit(b), nil
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return 0, err
	}
	u, width := utf8.DecodeRuneInString(s)
	if s == "" || width != len(s) {
		return 0, errors.New("want exactly one character")
	}
	if u == utf8.RuneError && !bytes.Contains(raw, []byte("\uFFFD")) && !bytes.EqualFold(raw, []byte(`"\ufffd"`)) {
		return 0, errors.New("half of a surrogate pair is no character")
	}
	return u, nil
}
