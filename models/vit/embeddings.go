package vit

import (
	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

// Embeddings turn an image into the vectors that the blocks work on.
type Embeddings struct {
	ClassToken *autograd.Param `name:"cls_token"`           // (1, 1, D)
	Positions  *autograd.Param `name:"position_embeddings"` // (1, 1+P, D), the class token's first
	Patches    *nn.PatchEmbed  `name:"patch_embeddings"`

	Dropout nn.Dropout
}

func newEmbeddings(config Config, dtype tensor.DType) (*Embeddings, error) {
	patches, err := nn.NewPatchEmbed(nn.PatchConfig{
		Image: config.ImageSize, Patch: config.PatchSize, Channels: config.NumChannels, Width: config.HiddenSize,
		Bias: true, DType: dtype,
	})
	if err != nil {
		return nil, err
	}
	return &Embeddings{
		ClassToken: autograd.NewParam(tensor.Zeros(dtype, 1, 1, config.HiddenSize)),
		Positions:  autograd.NewParam(tensor.Zeros(dtype, 1, config.Tokens(), config.HiddenSize)),
		Patches:    patches,
		Dropout:    nn.Dropout{P: config.HiddenDropoutProb},
	}, nil
}

// Forward maps images pixels (B, C, H, W) to (B, 1+P, D): the class token, then
// the patches, row by row, and to each the vector of its position added.
func (e *Embeddings) Forward(c *nn.Context, pixels *autograd.Var) *autograd.Var {
	return c.Scope(func() *autograd.Var {
		patches := e.Patches.Forward(c, pixels) // (B, P, D)
		b, d := patches.Size(0), patches.Size(2)
		class := c.Param(e.ClassToken).Expand(b, 1, d)
		tokens := autograd.Cat(1, class, patches) // (B, 1+P, D)
		return e.Dropout.Forward(c, tokens.Add(c.Param(e.Positions)))
	})
}
