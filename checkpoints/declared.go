package checkpoints

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/stria-ml/stria/nn"
)

// Learned says where something about a checkpoint was learned.
type Learned string

// The places.
const (
	FromConfig   Learned = "config.json"
	FromMetadata Learned = "the file's metadata"
	FromDefault  Learned = "Hugging Face's default"
	FromCaller   Learned = "the caller"
)

// Origin says where the parts of a Layout were learned.
type Origin struct {
	Heads  Learned `json:"heads"`
	Rotary Learned `json:"rotary"`
}

// The metadata of weights that SaveGQA writes: a config.json that is lost, or
// another model's, does not change what they mean.
const (
	headsKey  = "stria.head_order"
	rotaryKey = "stria.rope_layout"
)

// layout returns the layout of the stored weights: the caller's, or else what
// the files say, or else the default. Notes say what the caller overrides.
func (c *checkpoint) layout(o LoadOptions) (layout Layout, origin Origin, notes []string, err error) {
	metadata := c.source.Metadata()
	heads, err := claims[nn.HeadOrder]{
		what: "head order", config: c.config.HeadOrder, declared: c.declared["head_order"],
		metadata: metadata[headsKey], parse: nn.ParseHeadOrder, caller: o.FromHeads,
	}.settle(&notes)
	if err != nil {
		return layout, origin, notes, err
	}
	rotary, err := claims[nn.RotaryLayout]{
		what: "rotary layout", config: c.config.RopeLayout, declared: c.declared["rope_layout"],
		metadata: metadata[rotaryKey], parse: nn.ParseRotaryLayout, caller: o.FromRotary,
	}.settle(&notes)
	return Layout{heads.value, rotary.value}, Origin{heads.from, rotary.from}, notes, err
}

// assumed returns a note on the parts of the layout that no file and no caller
// named. Weights in another order have the same names and shapes, so nothing
// else can tell. With one key/value head, or one query head to each, both head
// orders are the same; so are the rotary layouts of a single pair.
func (h heads) assumed(l Layout, from Origin) []string {
	var parts []string
	if from.Heads == FromDefault && h.kv > 1 && h.group > 1 {
		parts = append(parts, fmt.Sprintf("head order %v", l.Heads))
	}
	if from.Rotary == FromDefault && h.width > 2 {
		parts = append(parts, fmt.Sprintf("rotary layout %v", l.Rotary))
	}
	if len(parts) == 0 {
		return nil
	}
	return []string{"the files do not say in which order the attention weights are; assumed " + strings.Join(parts, " and ") +
		", as Hugging Face writes them: name the order when loading if it is another"}
}

// settled is a part of the layout, and whose word was taken for it.
type settled[T any] struct {
	value T
	from  Learned
}

// claims are what is said about one part of the layout.
type claims[T comparable] struct {
	what     string
	config   T      // config.json's, or the default
	declared bool   // config.json says so
	metadata string // of the weights, or ""
	parse    func(name string) (T, error)
	caller   *T
}

// settle returns the claim that holds. Where it is the caller's, a note says
// against what.
func (c claims[T]) settle(notes *[]string) (settled[T], error) {
	files, err := c.files()
	if c.caller == nil {
		return files, err
	}
	said := fmt.Sprintf("%s says %v", files.from, files.value)
	if err != nil {
		said = err.Error()
	}
	*notes = append(*notes, fmt.Sprintf("%s %v, as asked for; %s", c.what, *c.caller, said))
	return settled[T]{*c.caller, FromCaller}, nil
}

// files returns what the files say; they must agree.
func (c claims[T]) files() (settled[T], error) {
	switch {
	case c.metadata == "" && c.declared:
		return settled[T]{c.config, FromConfig}, nil
	case c.metadata == "":
		return settled[T]{c.config, FromDefault}, nil
	}
	value, err := c.parse(c.metadata)
	switch {
	case err != nil:
		return settled[T]{value, FromMetadata}, fmt.Errorf("metadata: %w", err)
	case c.declared && c.config != value:
		return settled[T]{value, FromMetadata}, fmt.Errorf("config.json says that the %s is %v, but the weights' metadata says %v: "+
			"they do not belong together, unless the layout is given", c.what, c.config, value)
	case c.declared:
		return settled[T]{value, FromConfig}, nil
	}
	return settled[T]{value, FromMetadata}, nil
}

// declaredLayout returns which fields config.json's "stria" has. The file was
// read before, and its names are known to be unique.
func declaredLayout(path string) (map[string]bool, error) {
	text, err := readLimited(path, maxConfigBytes)
	if err != nil {
		return nil, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	declared := map[string]bool{}
	var stria map[string]json.RawMessage
	if raw, ok := fields["stria"]; ok {
		if err := json.Unmarshal(raw, &stria); err != nil {
			return nil, fmt.Errorf("%s: stria: %w", path, err)
		}
	}
	for name, value := range stria {
		declared[name] = string(value) != "null"
	}
	return declared, nil
}
