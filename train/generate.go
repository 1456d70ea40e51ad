package train

import (
	"context"
	"fmt"
	"io"
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
	if last, size := utf8.DecodeLastRuneInString(w.pending); last == utf8.RuneError && size == 1 && len(w.pending) < utf8.UTFMax {
		return true
	}
	w.flush()
	return w.err == nil
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
