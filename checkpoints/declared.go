package checkpoints

import (
	"encoding/json"
	"fmt"

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
// the files say, or else the default.
func (c *checkpoint) layout(o LoadOptions) (layout Layout, origin Origin, notes []string, err error) {
	metadata := c.source.Metadata()
	heads := claims[nn.HeadOrder]{
		what: "head order", config: c.config.HeadOrder, declared: c.declared["head_order"],
		metadata: metadata[headsKey], parse: nn.ParseHeadOrder, caller: o.FromHeads,
	}
	rotary := claims[nn.RotaryLayout]{
		what: "rotary layout", config: c.config.RopeLayout, declared: c.declared["rope_layout"],
		metadata: metadata[rotaryKey], parse: nn.ParseRotaryLayout, caller: o.FromRotary,
	}
	for _, settle := range [...]func() (string, error){
		func() (note string, err error) { layout.Heads, origin.Heads, note, err = heads.settle(); return },
		func() (note string, err error) { layout.Rotary, origin.Rotary, note, err = rotary.settle(); return },
	} {
		note, err := settle()
		if err != nil {
			return layout, origin, notes, err
		}
		if note != "" {
			notes = append(notes, note)
		}
	}
	return layout, origin, notes, nil
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

// settle returns whose claim holds, and a note where the caller's overrides.
func (c claims[T]) settle() (value T, from Learned, note string, err error) {
	value, from, err = c.files()
	if c.caller == nil {
		return value, from, "", err
	}
	said := fmt.Sprintf("%s says %v", from, value)
	if err != nil {
		said = err.Error()
	}
	return *c.caller, FromCaller, fmt.Sprintf("%s %v, as asked for; %s", c.what, *c.caller, said), nil
}

// files returns what the files say; they must agree.
func (c claims[T]) files() (value T, from Learned, err error) {
	if c.metadata == "" {
		if c.declared {
			return c.config, FromConfig, nil
		}
		return c.config, FromDefault, nil
	}
	value, err = c.parse(c.metadata)
	switch {
	case err != nil:
		return value, FromMetadata, fmt.Errorf("metadata: %w", err)
	case c.declared && c.config != value:
		return value, FromMetadata, fmt.Errorf("config.json says that the %s is %v, but the weights' metadata says %v: "+
			"they do not belong together, unless the layout is given", c.what, c.config, value)
	case c.declared:
		return value, FromConfig, nil
	}
	return value, FromMetadata, nil
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
