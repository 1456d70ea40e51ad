package tokenizer

import "fmt"

// Tokenizer maps text to token ids and back. Implementations are immutable and
// safe for concurrent use.
type Tokenizer interface {
	// Encode returns the ids of text, each in [0, Size). Text that the
	// vocabulary cannot express is an [*UnknownCharError].
	Encode(text string) ([]int64, error)

	// Decode returns the text of ids. An id outside [0, Size) is an [*IDError].
	Decode(ids []int64) (string, error)

	// Size is the number of tokens: the width of a model's logits.
	Size() int

	// Kind names the tokenizer in files: "bytes" or "chars".
	Kind() string
}

// UnknownCharError says that a text holds a character outside the vocabulary.
type UnknownCharError struct {
	Char   rune // the character's code point, or the byte's value where Byte is set
	Byte   bool // the text is not valid UTF-8 here, and Char is a single byte
	Index  int  // position in characters, from 0
	Offset int  // position in bytes, from 0
	Size   int  // size of the vocabulary
}

// Error names the character, its code point and its position.
func (e *UnknownCharError) Error() string {
	name := fmt.Sprintf("character %q (%U)", e.Char, e.Char)
	if e.Byte {
		name = fmt.Sprintf("byte 0x%02X (not valid UTF-8)", e.Char)
	}
	return fmt.Sprintf("tokenizer: %s at position %d (byte offset %d) is not in the vocabulary of %d characters",
		name, e.Index, e.Offset, e.Size)
}

// IDError says that an id to decode is outside the vocabulary.
type IDError struct {
	ID    int64
	Index int // position in the ids, from 0
	Size  int // size of the vocabulary
}

// Error names the id, its position and the range that is valid.
func (e *IDError) Error() string {
	return fmt.Sprintf("tokenizer: id %d at position %d is outside the vocabulary of %d tokens", e.ID, e.Index, e.Size)
}
