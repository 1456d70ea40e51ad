package vit

import (
	"fmt"
	"slices"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

// Resize makes the model take images of another size: its positions are
// interpolated to the grid that the size has (nn.InterpolatePositions), all else
// stays. A size that does not divide into patches is a *ConfigError that names
// both, and changes nothing. Call it before an optimizer gets the parameters: the
// positions are a new one where the grid changes.
func (m *Model) Resize(image nn.Size) error {
	config := m.Config
	config.ImageSize = image
	if err := config.Check(); err != nil {
		return err
	}
	e, from, to := m.Embeddings, m.Config.Grid(), config.Grid()
	if from != to {
		positions, err := nn.InterpolatePositions(e.Positions.Value, from, to)
		if err != nil {
			return fmt.Errorf("vit: %w", err)
		}
		e.Positions = autograd.NewParam(positions)
	}
	e.Patches.Image, m.Config = image, config
	return nil
}

// SetLabels gives the model a new classifier for classes of these names, drawn
// from random as Init does, or of zeros without it. A bare model becomes one that
// classifies. Call it before an optimizer gets the parameters.
func (m *Model) SetLabels(labels []string, random *tensor.Stream, choice Initialization) error {
	config := m.Config
	config.Labels = slices.Clone(labels)
	if len(labels) == 0 {
		return fieldError(ErrRange, "id2label", "at least one class", "none")
	}
	if err := config.Check(); err != nil {
		return err
	}
	value := m.Norm.Weight.Value
	head, err := nn.NewLinear(nn.LinearConfig{In: config.HiddenSize, Out: len(labels), Bias: true, DType: value.DType()})
	if err != nil {
		return fmt.Errorf("vit: %w", err)
	}
	nn.ToDevice(head, value.Device())
	m.Classifier, m.Config = head, config
	if random != nil {
		nn.Init(&Model{Classifier: head}, random, func(name string, p *autograd.Param) nn.Initializer {
			return initializer(name, p, config.InitializerRange, choice)
		})
	}
	return nil
}
