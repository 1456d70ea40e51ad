// Package cases lists what is measured: operations, training steps and
// generation of fixed sizes.
//
// A case's name is the contract between both sides of a comparison: a group, then
// what distinguishes the case, sizes last ("MatMul/NT/2048x256x704"). The program
// in bench/torch builds the same work from the name alone.
package cases

import (
	"strings"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/tensor"
)

// Case is one thing to measure.
type Case struct {
	Name string
	// FLOPs are the floating-point operations that one step's products need; 0
	// where memory is what limits.
	FLOPs float64
	// Bytes is the least memory traffic of one step: inputs read once, results
	// written once; 0 where arithmetic is what limits.
	Bytes float64
	// Tokens that one step reads or generates, or 0.
	Tokens int
	// Model says that the case is a whole model, whose peak memory counts.
	Model bool
	// Prepare makes the operands and runs the first steps, which get memory for
	// those to come; done frees what is not the garbage collector's.
	Prepare func() (step, done func())
}

// Group returns the first element of the name.
func (c Case) Group() string {
	group, _, _ := strings.Cut(c.Name, "/")
	return group
}

// All returns every case, group by group.
func All() []Case {
	var all []Case
	for _, group := range [...][]Case{
		matMuls(), batchedMatMuls(), elementwise(), normsAndLosses(), copies(), small(), adamW(), attention(), models(),
	} {
		all = append(all, group...)
	}
	return all
}

// warmSteps are how many steps are run before the first that counts.
const warmSteps = 3

// plain is the Prepare of steps whose operands the garbage collector frees.
func plain(make func() (step func())) func() (step, done func()) {
	return func() (func(), func()) { return warm(make()), func() {} }
}

// onGraph is the Prepare of steps that run on a graph, which they Reset.
func onGraph(make func(g *autograd.Graph) (step func())) func() (step, done func()) {
	return func() (func(), func()) {
		g := autograd.NewGraph()
		return warm(make(g)), g.Close
	}
}

func warm(step func()) func() {
	for range warmSteps {
		step()
	}
	return step
}

// normal returns float32 numbers that are the same in every run.
func normal(shape ...int) *tensor.Tensor {
	return tensor.RandN(tensor.Float32, tensor.NewStream(1), shape...)
}

// room returns a float32 tensor to be written.
func room(shape ...int) *tensor.Tensor { return tensor.Zeros(tensor.Float32, shape...) }

// must returns what a constructor made of a configuration that is right.
func must[T any](made T, err error) T {
	if err != nil {
		panic(err)
	}
	return made
}

const f32Bytes = 4
