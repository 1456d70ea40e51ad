// Command linearpixels trains a linear model on the pixels that "train vit"
// learns from, and prints how many of the same held-out pictures it names right.
//
// A figure of any class can lie anywhere, larger or smaller, turned, dark on
// light or light on dark, so no weighted sum of pixels tells the classes apart:
// what a vision transformer learns beyond this is what its layers are for.
package main

import (
	"fmt"
	"log"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/datasets/images"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/optim"
	"github.com/stria-ml/stria/tensor"
)

const (
	batch = 64
	peak  = 1e-3 // learning rate
)

func main() {
	shapes, err := images.NewShapes(images.ShapesConfig{})
	if err != nil {
		log.Fatal(err)
	}
	training, heldOut := shapes.TrainSource(), shapes.HeldOutSource()
	model, err := nn.NewLinear(nn.LinearConfig{In: training.Shape().Elements(), Out: len(training.Classes()), Bias: true})
	if err != nil {
		log.Fatal(err)
	}
	if err := fit(model, training, 1500); err != nil {
		log.Fatal(err)
	}
	right, err := count(model, heldOut)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("linear model: %.2f%% of %d held-out pictures right, guessing gets %.2f%%\n",
		100*float64(right)/float64(heldOut.Len()), heldOut.Len(), 100/float64(len(heldOut.Classes())))
}

// buffers are a batch of images and their labels.
type buffers struct {
	pixels []float32 // (B, C, H, W)
	labels []int64   // (B)
}

func newBuffers(source images.Source) buffers {
	return buffers{make([]float32, batch*source.Shape().Elements()), make([]int64, batch)}
}

// rows returns the images as rows (B, C*H*W), which share the buffer.
func (b buffers) rows() *tensor.Tensor { return tensor.Wrap(b.pixels, batch, len(b.pixels)/batch) }

// fit trains the model on so many batches of the source.
func fit(model *nn.Linear, source images.Source, steps int64) error {
	norm := images.HalfNormalization(source.Shape().Channels)
	loader, err := images.NewLoader(source, images.LoaderConfig{BatchSize: batch, Seed: 1, Normalization: norm})
	if err != nil {
		return err
	}
	optimizer := optim.NewAdamW(optim.ParamsOf(model), optim.AdamWConfig{Beta1: 0.9, Beta2: 0.98, Eps: 1e-8})
	schedule := optim.Cosine{Peak: peak, Warmup: 100, Total: steps}
	b := newBuffers(source)
	g := autograd.NewGraph()
	defer g.Close()
	c := &nn.Context{Graph: g, Train: true}
	for step := range steps {
		if err := loader.Next(b.pixels, b.labels); err != nil {
			return err
		}
		nn.ZeroGrad(model)
		g.Reset()
		logits := model.Forward(c, g.Const(b.rows()))
		g.Backward(nn.CrossEntropy(c, logits, tensor.Wrap(b.labels, batch), nn.LossOptions{}))
		optimizer.Step(schedule.LR(step), 1)
	}
	return nil
}

// count returns how many images of the source the model names right.
func count(model *nn.Linear, source images.Source) (right int, err error) {
	norm := images.HalfNormalization(source.Shape().Channels)
	pass, err := images.NewPass(source, images.PassConfig{BatchSize: batch, Normalization: norm})
	if err != nil {
		return 0, err
	}
	b := newBuffers(source)
	g := autograd.NewGraph(autograd.Inference())
	defer g.Close()
	for {
		rows, err := pass.Next(b.pixels, b.labels)
		if rows == 0 || err != nil {
			return right, err
		}
		g.Reset()
		logits := model.Forward(&nn.Context{Graph: g}, g.Const(b.rows()))
		for i, class := range tensor.Data[int64](logits.Value().ArgMax(-1))[:rows] {
			if class == b.labels[i] {
				right++
			}
		}
	}
}
