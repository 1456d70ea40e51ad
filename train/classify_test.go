package train_test

import (
	"context"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/datasets/images"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
	"github.com/stria-ml/stria/train"
)

// shapePictures returns the built-in figures of a size that are held out.
func shapePictures(t *testing.T, size int) images.Source {
	t.Helper()
	shapes, err := images.NewShapes(images.ShapesConfig{Size: size})
	if err != nil {
		t.Fatal(err)
	}
	return shapes.HeldOutSource()
}

// writePNG writes pixels (3, size, size), or (1, size, size), to a file.
func writePNG(t *testing.T, pixels []uint8, size int, path ...string) string {
	t.Helper()
	full := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	var picture image.Image
	area := size * size
	if len(pixels) == area {
		picture = &image.Gray{Pix: pixels, Stride: size, Rect: image.Rect(0, 0, size, size)}
	} else {
		coloured := image.NewRGBA(image.Rect(0, 0, size, size))
		for i := range area {
			coloured.Set(i%size, i/size, color.RGBA{pixels[i], pixels[area+i], pixels[2*area+i], 255})
		}
		picture = coloured
	}
	f, err := os.Create(full)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := png.Encode(f, picture); err != nil {
		t.Fatal(err)
	}
	return full
}

// TestClassify names pictures in files, and compares the probabilities with
// softmax of the logits, in float64.
func TestClassify(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	options := tinyViTOptions()
	options.Normalize, options.Train.Steps = train.NormalizeData, 3
	if _, err := train.TrainViT(context.Background(), options, dir, nil); err != nil {
		t.Fatal(err)
	}
	task := newViT(t, options)
	latest, err := train.LatestCheckpoint(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := task.Load(latest); err != nil {
		t.Fatal(err)
	}
	source := shapePictures(t, 16)
	norm := task.Normalization()
	pixels, input := make([]uint8, 3*16*16), make([]float32, 3*16*16)
	for _, n := range []int{3, 500} {
		source.Example(n, pixels)
		list, err := train.Classify(context.Background(), train.ClassifyRequest{
			ModelSource: train.ModelSource{Path: dir}, Images: []string{writePNG(t, pixels, 16, t.TempDir(), "a.png")}, Top: 100,
		})
		if err != nil || len(list) != 1 || len(list[0].Classes) != 8 {
			t.Fatalf("%v, %v", list, err)
		}
		for i, v := range pixels {
			c := i / 256
			input[i] = float32((float64(v)/255 - float64(norm.Mean[c])) / float64(norm.Std[c]))
		}
		for i, p := range list[0].Classes {
			want := probabilities(task, input)[slices.Index(source.Classes(), p.Class)]
			if !(math.Abs(p.Probability-want) < 1e-6) || i > 0 && p.Probability > list[0].Classes[i-1].Probability {
				t.Errorf("picture %d: number %d is %+v, want %v", n, i, p, want)
			}
		}
	}
}

// probabilities returns those of the classes for an image that is normalised.
func probabilities(task *train.ViT, input []float32) []float64 {
	g := autograd.NewGraph(autograd.Inference())
	defer g.Close()
	logits := task.Model().Forward(&nn.Context{Graph: g}, g.Const(tensor.FromSlice(input, 1, 3, 16, 16)))
	row := tensor.Data[float64](logits.Value().To(tensor.Float64))
	total := 0.0
	for i, l := range row {
		row[i] = math.Exp(l)
		total += row[i]
	}
	for i := range row {
		row[i] /= total
	}
	return row
}

func TestClassifyRefuses(t *testing.T) {
	dir := t.TempDir()
	run, sums := filepath.Join(dir, "run"), filepath.Join(dir, "sums")
	options := tinyViTOptions()
	options.Train.Steps, options.Val = 1, 0
	if _, err := train.TrainViT(context.Background(), options, run, nil); err != nil {
		t.Fatal(err)
	}
	text := tinyOptions()
	text.Train.Steps, text.Train.EvalEvery = 1, 0
	if _, err := train.TrainGQA(context.Background(), text, sums, nil); err != nil {
		t.Fatal(err)
	}
	grey := writePNG(t, make([]uint8, 20*20), 20, dir, "grey.png")
	write(t, "no picture", dir, "text.png")
	for _, c := range []struct {
		name   string
		change func(r *train.ClassifyRequest)
		want   string
	}{
		{"no image", func(r *train.ClassifyRequest) { r.Images[0] = "nowhere.png" }, "nowhere.png"},
		{"no picture", func(r *train.ClassifyRequest) { r.Images[0] = filepath.Join(dir, "text.png") }, "text.png"},
		{"grey", func(*train.ClassifyRequest) {}, "with channels 3 grey is repeated and colours are averaged"},
		{"channels", func(r *train.ClassifyRequest) { r.Channels = 1 }, "channels is 1, the model in"},
		{"a language model", func(r *train.ClassifyRequest) { r.Path = sums }, "model_type"},
		{"head order", func(r *train.ClassifyRequest) { r.Heads = "tiled" }, "no tokenizer, head order or rotary layout"},
		{"no model", func(r *train.ClassifyRequest) { r.Path = dir }, "holds no model"},
	} {
		r := train.ClassifyRequest{ModelSource: train.ModelSource{Path: run}, Images: []string{grey}}
		c.change(&r)
		if _, err := train.Classify(context.Background(), r); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: err = %v, want %q", c.name, err, c.want)
		}
	}
	r := train.ClassifyRequest{ModelSource: train.ModelSource{Path: run}, Images: []string{grey}, Channels: 3}
	if list, err := train.Classify(context.Background(), r); err != nil || len(list[0].Classes) != 5 {
		t.Errorf("with channels: %v, %v", list, err)
	}
}

// TestConfusionCountsWhatWasTakenForWhat writes a matrix out.
func TestConfusionCountsWhatWasTakenForWhat(t *testing.T) {
	c := train.NewConfusion([]string{"cat", "dog", "eel"})
	c.Counts = [][]int{{5, 2, 0}, {1, 3, 0}, {0, 0, 0}}
	if count, right := c.Of(0); count != 7 || right != 5 {
		t.Errorf("class 0: %d of %d", right, count)
	}
	text, err := json.Marshal(c)
	const want = `{"classes":[{"name":"cat","count":7,"exact":5,"accuracy":0.7142857142857143},{"name":"dog","count":4,"exact":3,"accuracy":0.75},` +
		`{"name":"eel","count":0,"exact":0,"accuracy":null}],"confusion":[[5,2,0],[1,3,0],[0,0,0]]}`
	if err != nil || string(text) != want {
		t.Errorf("%s, %v, want %s", text, err, want)
	}
}

// TestFiguresOfManyClasses draws matrices of few and of very many classes.
func TestFiguresOfManyClasses(t *testing.T) {
	for _, classes := range []int{1, 2, 30, 400} {
		dir := t.TempDir()
		names := make([]string, classes)
		for i := range names {
			names[i] = strings.Repeat("n", i%7+1) + string(rune('a'+i%26))
		}
		e := train.Evaluation{Loss: math.NaN(), Count: 3, HasAccuracy: true, Confusion: train.NewConfusion(names)}
		e.Confusion.Counts[0][classes-1] = 3
		if err := e.WriteFigures(dir, "data"); err != nil {
			t.Fatal(err)
		}
		if svg := readFile(t, dir, "confusion.svg"); !strings.Contains(svg, "</svg>") || strings.Contains(svg, "NaN") {
			t.Errorf("%d classes: no picture", classes)
		}
		if text := readFile(t, dir, "confusion.json"); !json.Valid([]byte(text)) || !strings.Contains(text, `"loss": null`) {
			t.Errorf("%d classes: confusion.json is %s", classes, text)
		}
	}
}
