package autograd

import "github.com/stria-ml/stria/tensor"

// scratch makes the temporaries of one backward function and gives them back
// together.
type scratch struct {
	arena *tensor.Arena
	held  [10]*tensor.Tensor
	n     int
}

func (g *Graph) scratch() scratch { return scratch{arena: g.arena} }

// keep returns t, to be given back.
func (s *scratch) keep(t *tensor.Tensor) *tensor.Tensor {
	t = s.arena.Adopt(t)
	s.held[s.n] = t
	s.n++
	return t
}

// like returns an empty tensor of t's shape, dtype and, if dense, strides.
func (s *scratch) like(t *tensor.Tensor) *tensor.Tensor { return s.keep(s.arena.EmptyLike(t)) }

// empty returns an empty tensor of t's shape.
func (s *scratch) empty(dtype tensor.DType, t *tensor.Tensor) *tensor.Tensor {
	var buf [tensor.MaxDims]int
	return s.keep(s.arena.Empty(dtype, tensor.AppendShape(buf[:0], t)...))
}

// reduced returns an empty tensor for t reduced over dims, which stay.
func (s *scratch) reduced(t *tensor.Tensor, dims []int) *tensor.Tensor {
	var buf [tensor.MaxDims]int
	return s.keep(s.arena.Empty(t.DType(), tensor.AppendReducedShape(buf[:0], t, true, dims...)...))
}

// number returns a 0-d tensor.
func (s *scratch) number(dtype tensor.DType, c float64) *tensor.Tensor {
	return s.keep(s.arena.Empty(dtype)).Fill(c)
}

// release gives all temporaries back.
func (s *scratch) release() {
	for _, t := range s.held[:s.n] {
		s.arena.Release(t)
	}
	s.n = 0
}
