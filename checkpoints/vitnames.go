package checkpoints

import (
	"strings"

	"github.com/stria-ml/stria/models/vit"
)

// ViTSlots returns a slot for each of a vision transformer's parameters, under
// the names and with the shapes that Hugging Face's checkpoints have.
func ViTSlots(m *vit.Model) []Slot {
	name := vitNamer(m.Classifier == nil)
	return Slots(m, func(s *Slot) { s.Name = name(s.Name) })
}

// vitParts are the parts of a block: nn.Block's names, and Hugging Face's.
var vitParts = strings.NewReplacer(
	".input_layernorm.", ".layernorm_before.",
	".self_attn.q_proj.", ".attention.attention.query.",
	".self_attn.k_proj.", ".attention.attention.key.",
	".self_attn.v_proj.", ".attention.attention.value.",
	".self_attn.o_proj.", ".attention.output.dense.",
	".post_attention_layernorm.", ".layernorm_after.",
	".mlp.fc1.", ".intermediate.dense.",
	".mlp.fc2.", ".output.dense.",
)

// vitNamer returns what turns a parameter's name into that of its tensor. A
// bare model's begin behind "vit.".
func vitNamer(bare bool) func(parameter string) string {
	return func(parameter string) string {
		name := vitParts.Replace(parameter)
		if bare {
			name = strings.TrimPrefix(name, "vit.")
		}
		return name
	}
}
