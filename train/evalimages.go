package train

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/stria-ml/stria/checkpoints"
	"github.com/stria-ml/stria/datasets/images"
	"github.com/stria-ml/stria/internal/strictjson"
)

// ValSplit is the split that a run holds out of its training split.
const ValSplit = "val"

// evaluateImages measures a vision transformer.
func (r EvalRequest) evaluateImages(ctx context.Context) (Evaluation, error) {
	if r.Context != 0 {
		return Evaluation{}, fmt.Errorf("%s: a vision transformer has no context to choose", r.Path)
	}
	m, err := r.openViT()
	if err != nil {
		return Evaluation{}, err
	}
	source, name, err := r.images(m)
	if err != nil {
		return Evaluation{}, err
	}
	if tokens := m.model.Config.Tokens(); r.Batch > maxBatchTokens/tokens {
		return Evaluation{}, fmt.Errorf("a batch of %d images of %d tokens is more than %d tokens", r.Batch, tokens, maxBatchTokens)
	}
	e, err := newImageEvaluator(m.model, m.normalization, source, r.Batch)
	if err != nil {
		return Evaluation{}, err
	}
	evaluation, err := e.run(ctx)
	if err == nil && e.unanswered > 0 {
		err = fmt.Errorf("%s: for %d of %d images %w", m.dir, e.unanswered, evaluation.Count, errNotFinite)
	}
	if err != nil || r.Figures == "" {
		return evaluation, err
	}
	if err := os.MkdirAll(r.Figures, 0o755); err != nil {
		return evaluation, err
	}
	return evaluation, evaluation.WriteFigures(r.Figures, name)
}

// images returns what to measure the model on, and its name.
func (r EvalRequest) images(m *storedViT) (source images.Source, name string, err error) {
	if m.model.Config.Classes() == 0 {
		return nil, "", fmt.Errorf("%s: it is a bare model, without a classifier", m.dir)
	}
	if r.Data == "" {
		source, name, err = r.runImages(m)
	} else if err = checkImageData("data", r.Data); err == nil {
		source, name, err = r.givenImages(m)
	}
	if err != nil {
		return nil, "", err
	}
	if have, want := source.Classes(), m.model.Config.Labels; !slices.Equal(have, want) {
		return nil, "", fmt.Errorf("%s: the model knows %s, the data has %s", m.dir, named(want), named(have))
	}
	return source, name, nil
}

// givenImages opens the data of the request: its test part unless a split is
// given, or a folder as a whole where it has no parts.
func (r EvalRequest) givenImages(m *storedViT) (images.Source, string, error) {
	request := requestFor(m.model.Config, r.Data, ImageSize{}, r.Channels)
	split := r.Split
	if split == "" {
		split = string(images.Test)
	}
	if kind, dir := imageKind(r.Data); kind == folderData {
		request.classes = m.model.Config.Labels
		if r.Split == "" && !hasParts(dir) {
			split = string(images.Train)
		}
	}
	source, err := request.openSplit(split)
	return source, shortName(r.Data) + ", " + split, err
}

// runImages opens the data of the model's run: its test split unless another is
// given, or what it held out.
func (r EvalRequest) runImages(m *storedViT) (images.Source, string, error) {
	options, err := ReadViTOptions(filepath.Dir(filepath.Dir(m.dir)))
	if err != nil {
		return nil, "", fmt.Errorf("%s: it is no checkpoint of a run, so what it was tested on is not known; give the data: %w", m.dir, err)
	}
	channels := options.Channels
	if r.Channels != 0 {
		channels = r.Channels
	}
	request := requestFor(m.model.Config, options.Data, options.ImageSize, channels)
	split := r.Split
	if split == "" && options.TestSplit != NoSplit {
		split = options.TestSplit
	}
	if split != "" && split != ValSplit {
		source, err := request.openSplit(split)
		return source, shortName(options.Data) + ", " + split, err
	}
	options.TestSplit = NoSplit
	splits, err := openSplits(options, request)
	switch {
	case err != nil:
		return nil, "", err
	case splits.heldOut == nil:
		return nil, "", fmt.Errorf("%s: its run held nothing out; give the data, or a split of the run's", m.dir)
	}
	if err := trainedOn(m.dir, splits.train); err != nil {
		return nil, "", err
	}
	return splits.heldOut, shortName(options.Data) + ", held out of " + options.TrainSplit, nil
}

// trainedOn refuses a checkpoint whose run was trained on other images than the
// source's: among those that the run's options hold out of the data as it is now
// may be some that the model has learned.
func trainedOn(checkpoint string, source images.Source) error {
	state, err := ReadState(checkpoint)
	if err != nil {
		return err
	}
	var position images.LoaderState
	if err := strictjson.Decode(state.Data, &position); err != nil {
		return fmt.Errorf("%s: data: %w", filepath.Join(checkpoint, checkpoints.StateFile), err)
	}
	if id := source.ID(); position.Dataset != id {
		return fmt.Errorf("%s: its run was trained on %s, and its data is now %s: what is held out of it is not the same; "+
			"give the data, or a split of the run's", checkpoint, position.Dataset, id)
	}
	return nil
}
