package vit_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/models/vit"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

// TestNewErrors: sizes that do not fit are errors that name both, before
// anything is allocated.
func TestNewErrors(t *testing.T) {
	for _, row := range []struct {
		change  func(c *vit.Config)
		options vit.Options
		kind    error // or nil
		want    []string
	}{
		{func(c *vit.Config) { c.PatchSize = nn.Square(5) }, vit.Options{}, vit.ErrMismatch, []string{"patch_size", "8x12", "5x5"}},
		{func(c *vit.Config) { c.NumAttentionHeads = 7 }, vit.Options{}, vit.ErrMismatch, []string{"num_attention_heads", "24", "7"}},
		{func(c *vit.Config) { c.NumKeyValueHeads = 4 }, vit.Options{}, vit.ErrMismatch, []string{"num_key_value_heads", "6", "4"}},
		{func(c *vit.Config) { c.PatchSize = nn.Size{} }, vit.Options{}, vit.ErrRange, []string{"patch_size", "0"}},
		{func(c *vit.Config) { c.HiddenAct = "elu" }, vit.Options{}, vit.ErrUnsupported, []string{"hidden_act", "elu"}},
		{func(c *vit.Config) { c.HiddenDropoutProb = 2 }, vit.Options{}, vit.ErrRange, []string{"hidden_dropout_prob", "2"}},
		{func(c *vit.Config) { c.Labels[1] = "\xff" }, vit.Options{}, vit.ErrRange, []string{"id2label.1", `"\xff"`}},
		{func(c *vit.Config) { c.HiddenSize, c.ImageSize = 6<<27, nn.Size{Height: 1 << 30, Width: 3 << 29} }, vit.Options{}, nil, []string{"parameters"}},
		{func(c *vit.Config) { c.IntermediateSize = 1 << 28 }, vit.Options{}, nil, []string{"parameters", "limit of 8589934592", "MaxParameters"}},
		{func(*vit.Config) {}, vit.Options{MaxParameters: 100}, nil, []string{"limit of 100"}},
		{func(*vit.Config) {}, vit.Options{DType: tensor.Float16}, nil, []string{"DType", "float16"}},
	} {
		config := small()
		row.change(&config)
		m, err := vit.New(config, row.options)
		if err == nil || m != nil || row.kind != nil && !errors.Is(err, row.kind) {
			t.Errorf("%+v: error %v, want kind %v", config, err, row.kind)
			continue
		}
		for _, want := range row.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("error %q does not have %q", err, want)
			}
		}
	}
}

func TestMisuse(t *testing.T) {
	m := newModel(t, small(), vit.Options{})
	config := small()
	config.Labels = nil
	bare := newModel(t, config, vit.Options{})
	pixels, labels := batch(small(), 1)
	g := autograd.NewGraph()
	defer g.Close()
	c := &nn.Context{Graph: g}
	for _, row := range []struct {
		name string
		kind tensor.Kind
		want string
		f    func()
	}{
		{"another size", tensor.ShapeMismatch, "want images (B, 2, 8, 12), not shape [3 2 8 9]", func() { m.Forward(c, g.Const(pixels.Narrow(3, 0, 9))) }},
		{"other channels", tensor.ShapeMismatch, "[3 1 8 12]", func() { m.Hidden(c, g.Const(pixels.Narrow(1, 0, 1))) }},
		{"a label beyond the classes", tensor.IndexOutOfRange, "5", func() {
			m.Loss(c, g.Const(pixels), tensor.FromSlice([]int64{0, 5, 1}, 3), nn.LossOptions{})
		}},
		{"logits of a bare model", tensor.InvalidArgument, "SetLabels", func() { bare.Forward(c, g.Const(pixels)) }},
		{"loss of a bare model", tensor.InvalidArgument, "SetLabels", func() { bare.Loss(c, g.Const(pixels), labels, nn.LossOptions{}) }},
	} {
		var e *tensor.Error
		if err := tensor.Catch(row.f); !errors.As(err, &e) || e.Kind != row.kind || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: error %v, want one of kind %v with %q", row.name, err, row.kind, row.want)
		}
	}
	if got := bare.ClassVector(c, g.Const(pixels)).Shape(); !slices.Equal(got, []int{3, 24}) {
		t.Errorf("a bare model's vectors have shape %v", got)
	}
}
