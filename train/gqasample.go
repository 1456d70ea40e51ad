package train

import (
	"context"
	"fmt"
	"strings"

	"github.com/stria-ml/stria/models/gqa"
)

// how much is shown of what a model does.
const (
	sampleSums        = 8
	samplePromptLimit = 16 // tokens of a text's prompt
	sampleTokens      = 200
)

// Samples returns some held-out sums with the model's answers, or a text that
// it wrote.
func (g *GQA) Samples(ctx context.Context) ([]string, error) {
	if g.corpus.addition != nil {
		return g.sums(ctx)
	}
	return g.continuation(ctx)
}

// sums answers held-out questions, evenly spread.
func (g *GQA) sums(ctx context.Context) ([]string, error) {
	a := g.corpus.addition
	pairs := a.HeldOut()
	n := min(sampleSums, len(pairs))
	var lines []string
	for i := range n {
		p := pairs[(2*i+1)*len(pairs)/(2*n)]
		question := a.Prompt(p.A, p.B)
		answer, err := g.complete(ctx, question, gqa.GenerateOptions{})
		if err != nil {
			return nil, err
		}
		answer = strings.TrimSuffix(answer, "\n")
		verdict := "right"
		if want := a.Answer(p.A, p.B); answer != want {
			verdict = "wrong, it is " + want
		}
		lines = append(lines, fmt.Sprintf("%s%s  %s", question, answer, verdict))
	}
	return lines, nil
}

// complete continues a prompt.
func (g *GQA) complete(ctx context.Context, prompt string, o gqa.GenerateOptions) (string, error) {
	ids, err := g.corpus.tokenizer.Encode(prompt)
	if err != nil {
		return "", err
	}
	out, err := g.model.Generate(ctx, ids, o)
	if err != nil {
		return "", err
	}
	return g.corpus.tokenizer.Decode(out.IDs)
}

// continuation continues the beginning of the held-out text.
func (g *GQA) continuation(ctx context.Context) ([]string, error) {
	source := g.corpus.heldOut
	inputs, targets := make([]int64, source.Context()), make([]int64, source.Context())
	source.Example(0, inputs, targets)
	prompt, err := g.corpus.tokenizer.Decode(inputs[:min(samplePromptLimit, (len(inputs)+1)/2)])
	if err != nil {
		return nil, err
	}
	text, err := g.complete(ctx, prompt, gqa.GenerateOptions{
		MaxTokens: sampleTokens, Sampling: gqa.Sampling{Temperature: 0.8, Seed: g.options.Train.Seed},
	})
	if err != nil {
		return nil, err
	}
	return strings.Split(prompt+text, "\n"), nil
}
