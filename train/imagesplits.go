package train

import (
	"fmt"
	"slices"

	"github.com/stria-ml/stria/datasets/images"
)

// imageSplits are what a vision transformer is trained on and measured by.
type imageSplits struct {
	train   images.Source
	heldOut images.Source // part of the training split, or nil
	test    images.Source // or nil
}

// openSplits opens the splits of the options.
func openSplits(o ViTOptions, r imageRequest) (*imageSplits, error) {
	training, err := r.openSplit(o.TrainSplit)
	if err != nil {
		return nil, err
	}
	s := &imageSplits{train: training}
	if o.Val > 0 {
		if s.train, s.heldOut, err = images.Split(training, o.Val, o.Train.Seed); err != nil {
			return nil, fmt.Errorf("%s: %w", r.data, err)
		}
	}
	if o.TestSplit == NoSplit {
		return s, nil
	}
	if kind, _ := imageKind(r.data); kind == folderData {
		r.classes = training.Classes()
	}
	if s.test, err = r.openSplit(o.TestSplit); err != nil {
		return nil, err
	}
	return s, sameImages(training, s.test)
}

// openSplit opens the images of a split.
func (r imageRequest) openSplit(text string) (images.Source, error) {
	s, err := parseSplit(text)
	if err != nil {
		return nil, err
	}
	part, err := r.open(s.part)
	if err != nil {
		return nil, err
	}
	source, err := s.of(part)
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", r.data, text, err)
	}
	return source, nil
}

// sameImages refuses test images that are not of the kind that is trained on.
func sameImages(training, test images.Source) error {
	if a, b := training.Shape(), test.Shape(); a != b {
		return fmt.Errorf("the images to train on are %v, those to test on %v", a, b)
	}
	if a, b := training.Classes(), test.Classes(); !slices.Equal(a, b) {
		return fmt.Errorf("to train on there are %s, to test on %s", named(a), named(b))
	}
	return nil
}

// shown returns the images that a run's results are shown on: those to test on,
// or else those held out, or nil.
func (s *imageSplits) shown() images.Source {
	if s.test != nil {
		return s.test
	}
	return s.heldOut
}

// normalization returns how the options want pixels normalised; stored is what
// the checkpoint of InitFrom says, or nil.
func (s *imageSplits) normalization(o ViTOptions, stored *images.Normalization) (images.Normalization, error) {
	channels := s.train.Shape().Channels
	switch {
	case o.Normalize == NormalizeHalf:
		return images.HalfNormalization(channels), nil
	case o.Normalize == NormalizeData:
		return images.MeasureNormalization(s.train)
	case stored != nil:
		return *stored, nil
	}
	return customary(o.Data, channels), nil
}
