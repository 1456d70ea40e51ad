package tokenizer

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// A unit is what one character token stands for: a code point, or, from
// firstByte up, a single byte that is no part of valid UTF-8. Keeping such
// bytes apart from U+FFFD is what makes decoding exact.
type unit = rune

const firstByte unit = utf8.MaxRune + 1

// maxUnits is the number of possible units: every code point that UTF-8 can
// hold, and the 128 bytes that can be invalid (a byte below 0x80 never is).
const maxUnits = utf8.MaxRune + 1 - 0x800 + 0x80

// asciiCount is the number of units that [Chars] finds by an array look-up.
const asciiCount = 0x80

// Chars is a tokenizer with one token for every distinct character of a text.
// A character is a Unicode code point, or a byte that is not valid UTF-8.
type Chars struct {
	units []unit            // by id
	ascii [asciiCount]int32 // id by ASCII code point, -1 where there is none
	other map[unit]int32    // id of every other unit
}

// NewChars returns the tokenizer of the distinct characters of text, numbered
// in the order of their code points; bytes that are not valid UTF-8 come last.
// An empty text is an error.
func NewChars(text string) (*Chars, error) {
	if text == "" {
		return nil, errors.New("tokenizer: the text is empty, so it has no characters to number")
	}
	seen := make(map[unit]struct{})
	var seenASCII [asciiCount]bool
	for i := 0; i < len(text); {
		u, width := decodeUnit(text[i:])
		i += width
		if u < asciiCount {
			seenASCII[u] = true
		} else {
			seen[u] = struct{}{}
		}
	}
	units := make([]unit, 0, len(seen)+asciiCount)
	for u, ok := range seenASCII {
		if ok {
			units = append(units, unit(u))
		}
	}
	for u := range seen {
		units = append(units, u)
	}
	slices.Sort(units)
	return charsOf(units)
}

// charsOf returns the tokenizer whose id i stands for units[i]; all must differ.
func charsOf(units []unit) (*Chars, error) {
	c := &Chars{units: units, other: make(map[unit]int32)}
	for i := range c.ascii {
		c.ascii[i] = -1
	}
	for id, u := range units {
		if first, ok := c.id(u); ok {
			return nil, fmt.Errorf("tokenizer: tokens %d and %d are both %s", first, id, unitName(u))
		}
		if u < asciiCount {
			c.ascii[u] = int32(id)
		} else {
			c.other[u] = int32(id)
		}
	}
	return c, nil
}

// Encode returns one id for every character of text.
func (c *Chars) Encode(text string) ([]int64, error) {
	ids := make([]int64, 0, utf8.RuneCountInString(text))
	for offset := 0; offset < len(text); {
		u, width := decodeUnit(text[offset:])
		id, ok := c.id(u)
		if !ok {
			return nil, c.unknown(u, len(ids), offset)
		}
		ids = append(ids, int64(id))
		offset += width
	}
	return ids, nil
}

// Decode returns the characters of ids in a row.
func (c *Chars) Decode(ids []int64) (string, error) {
	var text strings.Builder
	text.Grow(len(ids))
	for i, id := range ids {
		if id < 0 || id >= int64(len(c.units)) {
			return "", &IDError{ID: id, Index: i, Size: len(c.units)}
		}
		writeUnit(&text, c.units[id])
	}
	return text.String(), nil
}

// Size returns the number of distinct characters.
func (c *Chars) Size() int { return len(c.units) }

// Kind returns "chars".
func (c *Chars) Kind() string { return "chars" }

// id returns the id of u, and whether u is in the vocabulary.
func (c *Chars) id(u unit) (int32, bool) {
	if u < asciiCount {
		return c.ascii[u], c.ascii[u] >= 0
	}
	id, ok := c.other[u]
	return id, ok
}

func (c *Chars) unknown(u unit, index, offset int) error {
	e := &UnknownCharError{Char: u, Index: index, Offset: offset, Size: len(c.units)}
	if u >= firstByte {
		e.Char, e.Byte = u-firstByte, true
	}
	return e
}

// decodeUnit returns the first unit of text, which is not empty, and its width
// in bytes.
func decodeUnit(text string) (u unit, width int) {
	if b := text[0]; b < utf8.RuneSelf {
		return unit(b), 1
	}
	u, width = utf8.DecodeRuneInString(text)
	if u == utf8.RuneError && width == 1 {
		u = firstByte + unit(text[0])
	}
	return u, width
}

func writeUnit(text *strings.Builder, u unit) {
	if u >= firstByte {
		text.WriteByte(byte(u - firstByte))
		return
	}
	text.WriteRune(u)
}

// unitName describes u in an error.
func unitName(u unit) string {
	if u >= firstByte {
		return fmt.Sprintf("byte 0x%02X", u-firstByte)
	}
	return fmt.Sprintf("%q (%U)", u, u)
}
