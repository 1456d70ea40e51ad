package train_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/checkpoints/safetensors"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/optim"
	"github.com/stria-ml/stria/tensor"
	"github.com/stria-ml/stria/train"
)

// regression is a Task: it fits y = W x + b to points of a known line.
type regression struct {
	layer *nn.Linear
	next  int              // the point that the next batch starts at
	x, y  []*tensor.Tensor // a slot's batch, (rows, 2) and (rows, 1)
}

const rows = 8

func newRegression(slots int) (*regression, error) {
	layer, err := nn.NewLinear(nn.LinearConfig{In: 2, Out: 1, Bias: true, DType: tensor.Float64})
	return &regression{layer: layer, x: make([]*tensor.Tensor, slots), y: make([]*tensor.Tensor, slots)}, err
}

// points returns rows points from number first on: y = 2 x₁ - x₂ + 0.5.
func points(first int) (x, y *tensor.Tensor) {
	var xs, ys []float64
	for n := first; n < first+rows; n++ {
		x1, x2 := float64(n%5)-2, float64(n%3)-1
		xs, ys = append(xs, x1, x2), append(ys, 2*x1-x2+0.5)
	}
	return tensor.FromSlice(xs, rows, 2), tensor.FromSlice(ys, rows, 1)
}

func (r *regression) Kind() string { return "regression" }

func (r *regression) Params() []optim.NamedParam { return optim.ParamsOf(r.layer) }

func (r *regression) Draw(slot int) (tokens, targets int, err error) {
	r.x[slot], r.y[slot] = points(r.next)
	r.next += rows
	return rows, rows, nil
}

// Loss is the squared error, summed over the batch and divided.
func (r *regression) Loss(c *nn.Context, slot int, divisor float64) *autograd.Var {
	diff := r.layer.Forward(c, c.Graph.Const(r.x[slot])).Sub(c.Graph.Const(r.y[slot]))
	return diff.Square().Sum().MulScalar(1 / divisor)
}

// Evaluate measures points that training comes to late.
func (r *regression) Evaluate(context.Context) (train.Evaluation, error) {
	x, y := points(1000)
	g := autograd.NewGraph(autograd.Inference())
	defer g.Close()
	diff := r.layer.Forward(&nn.Context{Graph: g}, g.Const(x)).Sub(g.Const(y))
	return train.Evaluation{Loss: tensor.Item[float64](diff.Square().Mean().Value()), Count: rows}, nil
}

func (r *regression) Position() (json.RawMessage, error) { return json.Marshal(r.next) }

func (r *regression) SetPosition(position json.RawMessage) error {
	return json.Unmarshal(position, &r.next)
}

func (r *regression) Save(dir string) error {
	var list []safetensors.Named
	for name, p := range nn.Params(r.layer) {
		list = append(list, safetensors.Named{Name: name, Tensor: p.Value})
	}
	return safetensors.Save(filepath.Join(dir, safetensors.SingleFile), list, nil)
}

func (r *regression) Load(dir string) error {
	f, err := safetensors.Open(filepath.Join(dir, safetensors.SingleFile))
	if err != nil {
		return err
	}
	defer f.Close()
	for name, p := range nn.Params(r.layer) {
		stored, err := f.Tensor(name)
		if err != nil {
			return err
		}
		p.Value.CopyFrom(stored)
	}
	return nil
}

// A Task of one's own: a linear regression.
func ExampleTask() {
	config := train.DefaultConfig()
	config.Steps, config.Accumulate, config.Warmup = 200, 2, 10
	config.LR, config.MinLR, config.WeightDecay = 0.1, 0, 0
	task, err := newRegression(config.Accumulate)
	if err != nil {
		fmt.Println(err)
		return
	}
	// A *Run instead of the first nil keeps checkpoints and metrics.
	trainer, err := train.NewTrainer(task, config, nil, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer trainer.Close()
	evaluation, err := trainer.Run(context.Background())
	fmt.Println("loss below 1e-3:", evaluation.Loss < 1e-3, err)
	w, b := tensor.Data[float64](task.layer.Weight.Value), tensor.Item[float64](task.layer.Bias.Value.Select(0, 0))
	fmt.Printf("y = %.2f x1 %+.2f x2 %+.2f\n", w[0], w[1], b)
	// Output:
	// loss below 1e-3: true <nil>
	// y = 2.00 x1 -1.00 x2 +0.50
}
