package cases

import (
	"fmt"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/optim"
	"github.com/stria-ml/stria/tensor"
)

// elementwise are functions of an MLP's hidden activations, into a destination.
func elementwise() []Case {
	var all []Case
	for _, f := range []struct {
		name string
		into func(dst, x *tensor.Tensor)
	}{
		{"Exp", tensor.ExpInto}, {"Tanh", tensor.TanhInto}, {"SiLU", tensor.SiLUInto},
		{"GELU", tensor.GELUInto}, {"GELUTanh", tensor.GELUTanhInto},
	} {
		const rows, width = 2048, 704
		all = append(all, Case{
			Name:  fmt.Sprintf("%s/%dx%d", f.name, rows, width),
			Bytes: 2 * f32Bytes * rows * width,
			Prepare: plain(func() func() {
				x, dst := normal(rows, width), room(rows, width)
				return func() { f.into(dst, x) }
			}),
		})
	}
	return all
}

// copies are those that change the order of memory, into a destination.
func copies() []Case {
	return []Case{
		reordered("TransposedCopy", []int{4096, 4096}, 1, 0),
		reordered("PermuteHeads", []int{16, 1024, 8, 64}, 0, 2, 1, 3),
	}
}

// reordered copies a tensor of a shape, permuted by order.
func reordered(group string, shape []int, order ...int) Case {
	length := 1
	for _, n := range shape {
		length *= n
	}
	return Case{
		Name:  group + "/" + times(shape),
		Bytes: 2 * f32Bytes * float64(length),
		Prepare: plain(func() func() {
			src := normal(shape...).Permute(order...)
			dst := room(src.Shape()...)
			return func() { dst.CopyFrom(src) }
		}),
	}
}

// times writes a shape as a name's last element.
func times(shape []int) string {
	text := ""
	for i, n := range shape {
		if i > 0 {
			text += "x"
		}
		text += fmt.Sprint(n)
	}
	return text
}

// sink keeps the compiler from leaving out what nobody reads.
var sink *tensor.Tensor

// small are what an operation costs beside its work.
func small() []Case {
	return []Case{
		{Name: "View/64x64", Prepare: plain(func() func() {
			x := normal(64, 64)
			return func() { sink = x.View(64 * 64) }
		})},
		{Name: "Add/64", Prepare: plain(func() func() {
			a, b, dst := normal(64), normal(64), room(64)
			return func() { tensor.AddInto(dst, a, b) }
		})},
	}
}

// adamW are steps over 40 equal matrices, as a model would have. A step reads
// gradients, weights and both moments, and writes the latter three.
func adamW() []Case {
	var all []Case
	for _, count := range []int{3_000_000, 25_000_000} {
		all = append(all, Case{
			Name:  fmt.Sprintf("AdamW/%d", count),
			Bytes: 7 * f32Bytes * float64(count),
			Prepare: plain(func() func() {
				const matrices, width = 40, 250
				var params []optim.NamedParam
				for i := range matrices {
					p := autograd.NewParam(normal(count/matrices/width, width))
					p.Grad = normal(count/matrices/width, width)
					params = append(params, optim.NamedParam{Name: fmt.Sprint(i), Param: p})
				}
				o := optim.NewAdamW(params, optim.DefaultAdamWConfig())
				return func() { o.Step(1e-3, 1) }
			}),
		})
	}
	return all
}
