package gqa

import (
	"context"
	"fmt"
	"slices"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

// GenerateOptions say how Generate continues a prompt.
type GenerateOptions struct {
	Sampling Sampling
	// MaxTokens ends the continuation; 0 leaves that to the context's length.
	MaxTokens int
	// StopTokens end the continuation, which does not contain them; nil means the
	// config's EOSTokenIDs.
	StopTokens []int64
	// OnToken, if given, gets every token at once; false ends the continuation.
	OnToken func(id int64) bool
}

// StopReason says why a continuation ended.
type StopReason uint8

// The reasons.
const (
	StopLength   StopReason = iota + 1 // MaxTokens were generated
	StopContext                        // prompt and continuation fill the model's context
	StopToken                          // a stop token came
	StopCallback                       // OnToken returned false
	StopCanceled                       // the context.Context ended
)

// String returns the reason in words.
func (r StopReason) String() string {
	switch r {
	case StopLength:
		return "length"
	case StopContext:
		return "context full"
	case StopToken:
		return "stop token"
	case StopCallback:
		return "callback"
	case StopCanceled:
		return "canceled"
	}
	return fmt.Sprintf("stop reason(%d)", uint8(r))
}

// Generation is a continuation.
type Generation struct {
	IDs    []int64 // without the prompt
	Reason StopReason
}

// Generate continues a prompt, token by token, until one of the options ends
// it or prompt and continuation together are as long as the model's context
// (MaxPositionEmbeddings). An empty prompt, one longer than the context, a token
// outside the vocabulary and options out of range are errors; when ctx ends,
// the tokens so far come with its error. Several goroutines may generate from
// one model, as long as none trains it.
func (m *Model) Generate(ctx context.Context, prompt []int64, o GenerateOptions) (Generation, error) {
	if err := m.checkPrompt(prompt, o); err != nil {
		return Generation{}, err
	}
	d, err := m.newDecoder(len(prompt), o.MaxTokens)
	if err != nil {
		return Generation{}, err
	}
	defer d.graph.Close()
	return d.run(ctx, prompt, o)
}

func (m *Model) checkPrompt(prompt []int64, o GenerateOptions) error {
	context := m.Config.MaxPositionEmbeddings
	switch {
	case len(prompt) == 0:
		return fmt.Errorf("gqa: the prompt is empty, want at least one token")
	case len(prompt) > context:
		return fmt.Errorf("gqa: the prompt has %d tokens, the model's context %d", len(prompt), context)
	case o.MaxTokens < 0:
		return fmt.Errorf("gqa: MaxTokens is %d, want at least 1, or 0 for no limit", o.MaxTokens)
	}
	for i, id := range prompt {
		if id < 0 || id >= int64(m.Config.VocabSize) {
			return fmt.Errorf("gqa: token %d of the prompt is %d, want 0 to %d", i, id, m.Config.VocabSize-1)
		}
	}
	return o.Sampling.check()
}

// decoder computes logits token by token: on one inference graph, emptied each
// time, and a cache outside it.
type decoder struct {
	model   *Model
	graph   *autograd.Graph
	cache   *Cache
	context nn.Context
	logits  []float64
	result  *tensor.Tensor // (1, 1, V), over logits
	last    [1]int64
	token   *tensor.Tensor // (1, 1), over last
}

// firstCapacity is how many tokens a cache has room for at first; it doubles
// as the text grows.
const firstCapacity = 256

func (m *Model) newDecoder(prompt, most int) (*decoder, error) {
	total := m.Config.MaxPositionEmbeddings
	if most > 0 && most < total-prompt {
		total = prompt + most
	}
	cache, err := m.NewCache(1, min(total, max(firstCapacity, prompt)))
	if err != nil {
		return nil, err
	}
	device := autograd.OnDevice(m.Embed.Weight.Value.Device())
	d := &decoder{
		model: m, graph: autograd.NewGraph(autograd.Inference(), autograd.ReuseVars(), device), cache: cache,
		logits: make([]float64, m.Config.VocabSize),
	}
	d.context.Graph = d.graph
	d.result = tensor.Wrap(d.logits, 1, 1, len(d.logits))
	d.token = tensor.Wrap(d.last[:], 1, 1)
	return d, nil
}

// run is Generate after its checks.
func (d *decoder) run(ctx context.Context, prompt []int64, o GenerateOptions) (Generation, error) {
	stops := o.StopTokens
	if stops == nil {
		stops = d.model.Config.EOSTokenIDs
	}
	sampler := newSampler(o.Sampling)
	var out Generation
	next := prompt
	for {
		switch {
		case ctx.Err() != nil:
			out.Reason = StopCanceled
			return out, ctx.Err()
		case o.MaxTokens > 0 && len(out.IDs) == o.MaxTokens:
			out.Reason = StopLength
			return out, nil
		case len(prompt)+len(out.IDs) >= d.model.Config.MaxPositionEmbeddings:
			out.Reason = StopContext
			return out, nil
		}
		id, err := d.step(ctx, next, sampler)
		if err != nil {
			if ctx.Err() != nil {
				out.Reason = StopCanceled
			}
			return out, err
		}
		if slices.Contains(stops, id) {
			out.Reason = StopToken
			return out, nil
		}
		out.IDs = append(out.IDs, id)
		if o.OnToken != nil && !o.OnToken(id) {
			out.Reason = StopCallback
			return out, nil
		}
		next = out.IDs[len(out.IDs)-1:]
	}
}

// step reads tokens and picks the one after them.
func (d *decoder) step(ctx context.Context, ids []int64, s *sampler) (int64, error) {
	if need := d.cache.Len() + len(ids); need > d.cache.Capacity() {
		if err := d.cache.Grow(min(2*need, d.model.Config.MaxPositionEmbeddings)); err != nil {
			return 0, err
		}
	}
	if err := d.read(ctx, ids); err != nil {
		return 0, err
	}
	return s.pick(d.logits)
}

// promptPiece is how many tokens of a prompt are read at a time, which bounds
// the memory that a long one takes.
const promptPiece = 512

// read computes the logits after ids, which follow those in the cache.
func (d *decoder) read(ctx context.Context, ids []int64) error {
	c := &d.context
	for len(ids) > promptPiece {
		d.graph.Reset()
		d.model.Hidden(c, tensor.Wrap(ids[:promptPiece], 1, promptPiece), d.cache)
		ids = ids[promptPiece:]
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	d.graph.Reset()
	hidden := d.model.Hidden(c, d.tokens(ids), d.cache)
	d.model.Head.Forward(c, hidden.Narrow(1, len(ids)-1, 1)).CopyTo(d.result)
	return nil
}

// tokens returns ids (1, T) as a tensor, which for a single one is the same each
// time.
func (d *decoder) tokens(ids []int64) *tensor.Tensor {
	if len(ids) > 1 {
		return tensor.Wrap(ids, 1, len(ids))
	}
	d.last[0] = ids[0]
	return d.token
}
