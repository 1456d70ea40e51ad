package train_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stria-ml/stria/datasets/images"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
	"github.com/stria-ml/stria/train"
)

// trainedViT makes a short run and returns its folder and its checkpoint.
func trainedViT(t *testing.T, options train.ViTOptions) (run, checkpoint string) {
	t.Helper()
	run = filepath.Join(t.TempDir(), "run")
	if _, err := train.TrainViT(context.Background(), options, run, nil); err != nil {
		t.Fatal(err)
	}
	checkpoint, err := train.LatestCheckpoint(run)
	if err != nil {
		t.Fatal(err)
	}
	return run, checkpoint
}

// briefViTOptions are tinyViTOptions for two steps.
func briefViTOptions() train.ViTOptions {
	options := tinyViTOptions()
	options.Val, options.Train.Steps = 0, 2
	return options
}

func TestViTInitFrom(t *testing.T) {
	options := briefViTOptions()
	run, latest := trainedViT(t, options)
	options.InitFrom, options.Layers, options.Train.Seed = run, 7, 3 // the model is the checkpoint's
	task := newViT(t, options)
	saved := filepath.Join(t.TempDir(), "saved")
	if err := os.Mkdir(saved, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := task.Save(saved); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"model.safetensors", "config.json", "preprocessor_config.json"} {
		if readFile(t, saved, file) != readFile(t, latest, file) {
			t.Errorf("%s differs", file)
		}
	}
}

// TestViTInitFromAnotherSize trains a model further on larger images: its
// positions are interpolated, all else is the checkpoint's.
func TestViTInitFromAnotherSize(t *testing.T) {
	options := briefViTOptions()
	run, latest := trainedViT(t, options)
	first := newViT(t, options)
	if err := first.Load(latest); err != nil {
		t.Fatal(err)
	}
	options.InitFrom, options.ImageSize = run, train.SquareImage(24)
	task := newViT(t, options)
	want, err := nn.InterpolatePositions(first.Model().Embeddings.Positions.Value, nn.Size{Height: 2, Width: 4}, nn.Size{Height: 3, Width: 6})
	if err != nil {
		t.Fatal(err)
	}
	got := task.Model().Embeddings.Positions.Value
	if !slices.Equal(got.Shape(), []int{1, 19, 24}) || !slices.Equal(tensor.Data[float32](got), tensor.Data[float32](want)) {
		t.Errorf("positions %v are not those interpolated", got.Shape())
	}
	a, b := first.Model().Blocks[1].MLP.(*nn.MLP), task.Model().Blocks[1].MLP.(*nn.MLP)
	for i, p := range optimParams(a) {
		if !slices.Equal(tensor.Data[float32](p), tensor.Data[float32](optimParams(b)[i])) {
			t.Error("weights of a block differ")
		}
	}
	var r recorder
	dir := filepath.Join(t.TempDir(), "larger")
	result, err := train.TrainViT(context.Background(), options, dir, &r)
	if err != nil || result.Test.Count != 35 {
		t.Fatal(result, err)
	}
	if text := strings.Join(r.messages, "\n"); !strings.Contains(text, "images of 24x24 instead of 16x16: positions interpolated from a grid of 2x4 to 3x6") {
		t.Errorf("messages: %s", text)
	}
	options.ImageSize = train.SquareImage(20)
	if _, err := train.NewViT(options); err == nil || !strings.Contains(err.Error(), "the image's height 20 is no multiple of the patch's height 8") {
		t.Errorf("a size that does not divide: %v", err)
	}
}

func optimParams(layer any) (list []*tensor.Tensor) {
	for _, p := range nn.Params(layer) {
		list = append(list, p.Value)
	}
	return list
}

// TestViTInitFromOtherChannels trains a grey model on coloured images.
func TestViTInitFromOtherChannels(t *testing.T) {
	grey := briefViTOptions()
	grey.Channels = 1
	run, _ := trainedViT(t, grey)
	options := briefViTOptions()
	options.InitFrom = run
	task := newViT(t, options) // shapes are drawn in any number of channels
	if got := task.Model().Config.NumChannels; got != 1 {
		t.Errorf("%d channels", got)
	}
	options.Channels = 3
	if _, err := train.NewViT(options); err == nil || !strings.Contains(err.Error(), "channels is 3, the model of the checkpoint has 1") {
		t.Errorf("three channels: %v", err)
	}
}

// TestViTNormalizationOfAFolder reads preprocessor_config.json as others write
// it.
func TestViTNormalizationOfAFolder(t *testing.T) {
	options := briefViTOptions()
	_, latest := trainedViT(t, options)
	options.InitFrom = latest
	half := images.HalfNormalization(3)
	for name, c := range map[string]struct {
		text string // of the file, or none
		mean float32
		std  float32
		want string // of the error
	}{
		"none":               {"", half.Mean[0], half.Std[0], ""},
		"all else":           {`{"size": 224, "feature_extractor_type": "ViTFeatureExtractor", "image_mean": [0.1, 0.2, 0.3], "image_std": [0.4, 0.5, 0.6]}`, 0.1, 0.4, ""},
		"Hugging Face's own": {`{"do_normalize": true}`, 0.5, 0.5, ""},
		"no normalisation":   {`{"do_normalize": false, "image_mean": [0.1], "image_std": [0.4]}`, 0, 1, ""},
		"rescaled":           {`{"rescale_factor": 0.00392156862745098}`, 0.5, 0.5, ""},
		"not rescaled":       {`{"do_rescale": false}`, 0, 0, "do_rescale is false"},
		"another scale":      {`{"rescale_factor": 1}`, 0, 0, "rescale_factor 1, want true and 1/255"},
		"one channel":        {`{"image_mean": [0.1], "image_std": [0.4]}`, 0, 0, "of 1 means and 1 deviations"},
		"no deviation":       {`{"image_std": [0, 1, 1]}`, 0, 0, "deviation 0"},
		"a text":             {`{"image_mean": "grey"}`, 0, 0, "image_mean: "},
		"twice":              {`{"image_mean": [1, 1, 1], "image_mean": [0, 0, 0]}`, 0, 0, "twice"},
		"cut":                {`{"image_mean": [0.1`, 0, 0, "preprocessor_config.json: unexpected EOF"},
		"too long":           {strings.Repeat(" ", 2<<20), 0, 0, "more than"},
	} {
		path := filepath.Join(latest, "preprocessor_config.json")
		os.Remove(path)
		if c.text != "" {
			write(t, c.text, path)
		}
		task, err := train.NewViT(options)
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: err = %v, want %q", name, err, c.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if n := task.Normalization(); n.Mean[0] != c.mean || n.Std[0] != c.std {
			t.Errorf("%s: %+v, want mean %v and deviation %v", name, n, c.mean, c.std)
		}
	}
}

func TestImageSize(t *testing.T) {
	for text, want := range map[string]train.ImageSize{"28": {Height: 28, Width: 28}, "28x32": {Height: 28, Width: 32}, "0": {}, "8x8": {Height: 8, Width: 8}} {
		var got, again train.ImageSize
		if err := got.Set(text); err != nil || got != want {
			t.Errorf("%q is %v, %v", text, got, err)
		}
		written, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(written, &again); err != nil || again != want {
			t.Errorf("%s is read as %v, %v", written, again, err)
		}
		if err := again.Set(got.String()); err != nil || again != want {
			t.Errorf("%s is read as %v, %v", got, again, err)
		}
	}
	for _, text := range []string{"", "x", "8x", "x8", "-8", "8x8x8", "8.5", "8 x 8", "99999999999999999999"} {
		var got train.ImageSize
		if err := got.Set(text); err == nil || got != (train.ImageSize{}) {
			t.Errorf("%q is taken for %v", text, got)
		}
	}
	for _, text := range []string{`"8"`, `[8]`, `[8, 8, 8]`, `8.5`, `{}`} {
		var got train.ImageSize
		if err := json.Unmarshal([]byte(text), &got); err == nil {
			t.Errorf("%s is taken for %v", text, got)
		}
	}
}
