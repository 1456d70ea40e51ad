package vit_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stria-ml/stria/models/vit"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

// TestResize: the model takes images of the new size, with interpolated
// positions and all other weights.
func TestResize(t *testing.T) {
	m := newModel(t, small(), vit.Options{})
	before := map[string][]byte{}
	for name, p := range nn.Params(m) {
		before[name] = slices.Clone(tensor.Bytes(p.Value))
	}
	positions := m.Embeddings.Positions.Value.Clone()
	size := nn.Size{Height: 16, Width: 6}
	if err := m.Resize(size); err != nil {
		t.Fatal(err)
	}
	if m.Config.ImageSize != size || m.Config.Grid() != (nn.Size{Height: 4, Width: 2}) || m.Config.Tokens() != 9 {
		t.Errorf("config %+v", m.Config)
	}
	want, err := nn.InterpolatePositions(positions, nn.Size{Height: 2, Width: 4}, nn.Size{Height: 4, Width: 2})
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range nn.Params(m) {
		same := slices.Equal(tensor.Bytes(p.Value), before[name])
		if name == "vit.embeddings.position_embeddings" {
			same = slices.Equal(tensor.Bytes(p.Value), tensor.Bytes(want))
		}
		if !same {
			t.Errorf("%s is not as it should be", name)
		}
	}
	pixels, _ := batch(m.Config, 1)
	if got := forward(m, pixels).Shape(); !slices.Equal(got, []int{3, 5}) {
		t.Errorf("logits of shape %v", got)
	}
	larger := nn.Size{Height: 12, Width: 15}
	if err := m.Resize(larger); err != nil {
		t.Fatal(err)
	}
	if n, err := m.Config.Parameters(); err != nil || n != nn.Count(m) {
		t.Errorf("%d parameters (%v), want %d", nn.Count(m), err, n)
	}
	pixels, _ = batch(m.Config, 1)
	forward(m, pixels)
}

// TestResizeErrors: sizes that do not divide are refused, and change nothing.
func TestResizeErrors(t *testing.T) {
	m := newModel(t, small(), vit.Options{})
	pixels, _ := batch(small(), 1)
	want := tensor.Bytes(forward(m, pixels))
	for _, row := range []struct {
		size nn.Size
		kind vit.ConfigErrorKind
		want string
	}{
		{nn.Size{Height: 9, Width: 12}, vit.ErrMismatch, "height 9 is no multiple of the patch's height 4"},
		{nn.Size{Height: 8, Width: 13}, vit.ErrMismatch, "width 13 is no multiple of the patch's width 3"},
		{nn.Size{Height: 8}, vit.ErrRange, "image_size"},
		{nn.Size{Height: 1 << 40, Width: 12}, vit.ErrRange, "1099511627776"},
	} {
		if err := m.Resize(row.size); !errors.Is(err, row.kind) || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%v: error %v, want kind %v with %q", row.size, err, row.kind, row.want)
		}
	}
	if err := m.Resize(nn.Size{Height: 1 << 29, Width: 3 << 29}); err == nil {
		t.Error("positions of exabytes were made")
	}
	if !slices.Equal(tensor.Bytes(forward(m, pixels)), want) {
		t.Error("the model changed")
	}
}

// TestSetLabels gives a bare model a classifier, and a model another one.
func TestSetLabels(t *testing.T) {
	config := small()
	config.Labels = nil
	names := []string{"a", "b", "c"}
	for kind, m := range map[string]*vit.Model{"bare": newModel(t, config, vit.Options{}), "classifier": newModel(t, small(), vit.Options{})} {
		if err := m.SetLabels(names, tensor.NewStream(4), vit.InitFanIn); err != nil {
			t.Fatal(err)
		}
		pixels, _ := batch(small(), 1)
		if got := forward(m, pixels).Shape(); !slices.Equal(got, []int{3, 3}) || !slices.Equal(m.Config.Labels, names) {
			t.Errorf("%s: logits of shape %v, labels %v", kind, got, m.Config.Labels)
		}
		fresh := small()
		fresh.Labels = names
		same := newModel(t, fresh, vit.Options{Random: tensor.NewStream(4), Initialization: vit.InitFanIn})
		if !slices.Equal(tensor.Bytes(m.Classifier.Weight.Value), tensor.Bytes(same.Classifier.Weight.Value)) {
			t.Errorf("%s: the classifier is not drawn as in a new model", kind)
		}
		if err := m.SetLabels(names[:2], nil, vit.InitRange); err != nil || tensor.Item[float32](m.Classifier.Weight.Value.Abs().Max()) != 0 {
			t.Errorf("%s: without random numbers, weights are %v (%v)", kind, m.Classifier.Weight.Value, err)
		}
		for _, wrong := range [][]string{nil, {"a", "\xff"}} {
			if err := m.SetLabels(wrong, nil, vit.InitRange); !errors.Is(err, vit.ErrRange) || len(m.Config.Labels) != 2 {
				t.Errorf("%s: labels %q: error %v", kind, wrong, err)
			}
		}
	}
}
