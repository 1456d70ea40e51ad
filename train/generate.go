package train

import (
	"context"
	"fmt"
	"io"
	"math"
	"unicode/utf8"

	"github.com/stria-ml/stria/models/gqa"
	"github.com/stria-ml/stria/tokenizer"
)

// GenerateRequest asks for the continuation of a text.
type GenerateRequest struct {
	ModelSource
	Prompt  string
	Options gqa.GenerateOptions // OnToken is not used
	Out     io.Writer           // gets the prompt and, token by token, the rest
}

// Check returns what is wrong with the choices themselves.
func (r GenerateRequest) Check() error { return r.CheckNamed(asKey) }

// CheckNamed is Check for a reader who knows the choices by other names, such as
// flags: name turns the likes of top_k into these.
func (r GenerateRequest) CheckNamed(name func(key string) string) error {
	c := &checker{name: name}
	c.between("tokens", int64(r.Options.MaxTokens), 0, math.MaxInt32)
	c.within("temperature", r.Options.Sampling.Temperature, 0, math.MaxFloat64)
	c.between("top_k", int64(r.Options.Sampling.TopK), 0, math.MaxInt32)
	c.within("top_p", r.Options.Sampling.TopP, 0, 1)
	r.check(c)
	return c.err()
}

// Generate continues a text with a stored model, and returns why it ended.
func Generate(ctx context.Context, r GenerateRequest) (gqa.StopReason, error) {
	m, err := r.open()
	if err != nil {
		return 0, err
	}
	ids, err := m.tokenizer.Encode(r.Prompt)
	if err != nil {
		return 0, fmt.Errorf("the prompt: %w", err)
	}
	w := &textWriter{out: r.Out, tokenizer: m.tokenizer}
	w.pending = r.Prompt
	r.Options.OnToken = w.token
	generation, err := m.model.Generate(ctx, ids, r.Options)
	if err != nil && len(generation.IDs) == 0 {
		return generation.Reason, err
	}
	w.flush()
	if err != nil {
		return generation.Reason, err
	}
	if note := sumNote(m.tokenizer, r.Prompt); note != "" {
		r.message(note)
	}
	return generation.Reason, w.err
}

// textWriter writes tokens as text, whole characters at a time.
type textWriter struct {
	out       io.Writer
	tokenizer tokenizer.Tokenizer
	pending   string // the beginning of a character
	err       error
}

// token writes a token; false says that it could not.
func (w *textWriter) token(id int64) bool {
	text, err := w.tokenizer.Decode([]int64{id})
	if err != nil {
		w.err = err
		return false
	}
	w.pending += text
	if !endsInsideCharacter(w.pending) {
		w.flush()
	}
	return w.err == nil
}

// endsInsideCharacter reports whether text ends with the first bytes of a
// character in UTF-8, whose others may follow.
func endsInsideCharacter(text string) bool {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if end := text[len(text)-n:]; utf8.RuneStart(end[0]) {
			return !utf8.FullRuneInString(end)
		}
	}
	return false
}

func (w *textWriter) flush() {
	w.write(w.pending)
	w.pending = ""
}

func (w *textWriter) write(text string) {
	if w.err == nil {
		_, w.err = io.WriteString(w.out, text)
	}
}
