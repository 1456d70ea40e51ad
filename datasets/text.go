package datasets

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/stria-ml/stria/tokenizer"
)

// Reasons why a text cannot be trained on; the errors that wrap them name the
// file and give the numbers.
var (
	ErrEmptyText    = errors.New("the text is empty")
	ErrTextTooShort = errors.New("the text is too short")
	ErrTextTooLarge = errors.New("the text is too large")
	ErrNotRegular   = errors.New("not a regular file")
)

const (
	// DefaultValFraction is the part of a text that is kept for validation
	// where the config does not say.
	DefaultValFraction = 0.1

	// DefaultMaxTextBytes is the size of the largest text that is read where
	// the config does not say: 256 MiB, of which each token takes 8 bytes.
	DefaultMaxTextBytes = 256 << 20
)

// TextConfig configures a [Text].
type TextConfig struct {
	// Context is the length of an example in tokens, T.
	Context int

	// ValFraction is the part of the tokens, at the end of the text, that is
	// for validation: above 0 and below 1, or 0 for DefaultValFraction.
	ValFraction float64

	// Tokenizer encodes the text; nil means the characters of the text itself.
	Tokenizer tokenizer.Tokenizer

	// MaxBytes limits the size of the text; 0 means DefaultMaxTextBytes.
	MaxBytes int64
}

// Text is a text as token ids: n tokens, of which the first are for training
// and the last for validation.
type Text struct {
	tokenizer tokenizer.Tokenizer
	ids       []int64
	split     int // the first validation token
	context   int
	digest    string
}

// NewText encodes text and divides it: the first ⌊n·(1-ValFraction)⌋ tokens are
// for training, but at least one is for validation. Training needs at least
// Context+1 tokens. A text that is empty, too short or too large is an error
// that wraps [ErrEmptyText], [ErrTextTooShort] or [ErrTextTooLarge].
func NewText(text string, config TextConfig) (*Text, error) {
	t, err := newText(text, config)
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", err)
	}
	return t, nil
}

func newText(text string, config TextConfig) (*Text, error) {
	if err := config.complete(); err != nil {
		return nil, err
	}
	if text == "" {
		return nil, ErrEmptyText
	}
	if int64(len(text)) > config.MaxBytes {
		return nil, fmt.Errorf("%w: %d bytes, and the limit is %d", ErrTextTooLarge, len(text), config.MaxBytes)
	}
	tok := config.Tokenizer
	if tok == nil {
		chars, err := tokenizer.NewChars(text)
		if err != nil {
			return nil, err
		}
		tok = chars
	}
	ids, err := tok.Encode(text)
	if err != nil {
		return nil, err
	}
	split := min(int(float64(len(ids))*(1-config.ValFraction)), len(ids)-1)
	if split <= config.Context {
		return nil, fmt.Errorf("%w: %d tokens, of which %d for training, and context %d needs at least %d of them",
			ErrTextTooShort, len(ids), split, config.Context, uint64(config.Context)+1)
	}
	return &Text{tokenizer: tok, ids: ids, split: split, context: config.Context, digest: digest(ids)}, nil
}

// complete fills in the defaults and refuses values out of range.
func (c *TextConfig) complete() error {
	if c.Context < 1 {
		return fmt.Errorf("context %d: want at least 1", c.Context)
	}
	if c.ValFraction == 0 {
		c.ValFraction = DefaultValFraction
	}
	if !(c.ValFraction > 0 && c.ValFraction < 1) {
		return fmt.Errorf("validation fraction %v: want above 0 and below 1", c.ValFraction)
	}
	if c.MaxBytes == 0 {
		c.MaxBytes = DefaultMaxTextBytes
	}
	if c.MaxBytes < 0 {
		return fmt.Errorf("text limit of %d bytes: want at least 1", c.MaxBytes)
	}
	return nil
}

// digest returns the first half of the SHA-256 of ids as little-endian words.
func digest(ids []int64) string {
	h := sha256.New()
	var buf [4096]byte
	for len(ids) > 0 {
		n := min(len(ids), len(buf)/8)
		for i, id := range ids[:n] {
			binary.LittleEndian.PutUint64(buf[8*i:], uint64(id))
		}
		h.Write(buf[:8*n])
		ids = ids[n:]
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:16])
}

// Tokenizer returns the tokenizer that encoded the text.
func (t *Text) Tokenizer() tokenizer.Tokenizer { return t.tokenizer }

// Tokens returns the number of tokens in the text.
func (t *Text) Tokens() int { return len(t.ids) }

// TrainTokens returns the number of tokens that are for training.
func (t *Text) TrainTokens() int { return t.split }

// ValidationTokens returns the number of tokens that are for validation.
func (t *Text) ValidationTokens() int { return len(t.ids) - t.split }
