package autograd

import (
	"fmt"

	"github.com/stria-ml/stria/tensor"
)

// SavedTensor is a tensor that an operation needs again in its backward, with
// the version of its storage at the time. Whatever handle the storage is
// written through afterwards, Get finds out.
type SavedTensor struct {
	op      string
	tensor  *tensor.Tensor
	version int64
	again   *again // instead of a tensor: how to compute it
}

// Save keeps t, detached, for the backward of the named operation.
func Save(op string, t *tensor.Tensor) *SavedTensor {
	return &SavedTensor{op: op, tensor: t.Detach(), version: t.Version()}
}

// Get returns the tensor. If its storage was written to since, Get panics with
// a *tensor.Error of kind Stale; if its graph took the memory back, of kind Closed.
func (s *SavedTensor) Get() *tensor.Tensor {
	if s.again != nil {
		return s.again.remade()
	}
	if s.tensor.GivenBack() {
		panic(&tensor.Error{Op: s.op, Kind: tensor.Closed,
			Message: fmt.Sprintf("a tensor of shape %v that the backward of %s needs was given back to its graph; save a Clone",
				s.tensor.Shape(), s.op)})
	}
	if now := s.tensor.Version(); now != s.version {
		panic(&tensor.Error{Op: s.op, Kind: tensor.Stale, Expected: int(s.version), Actual: int(now),
			Message: fmt.Sprintf("a tensor of shape %v that the backward of %s needs was modified in place: "+
				"its storage is at version %d, and was at %d when it was saved; write to a Clone, or after Backward",
				s.tensor.Shape(), s.op, now, s.version)})
	}
	return s.tensor
}

// save keeps v's value for the backward of op: the graph's own SavedTensor,
// which holds the memory until the node has been passed.
func (g *Graph) save(op string, t *tensor.Tensor) *SavedTensor {
	s := g.newSaved()
	s.op, s.tensor, s.version = op, g.arena.Alias(t), t.Version()
	return s
}

// newSaved returns an empty SavedTensor, one that forget ended if there is one.
func (g *Graph) newSaved() *SavedTensor {
	last := len(g.spareSaved) - 1
	if last < 0 {
		return new(SavedTensor)
	}
	s := g.spareSaved[last]
	g.spareSaved = g.spareSaved[:last]
	return s
}

// saveFor is save if other wants a gradient, the one that needs t; else nil.
func (g *Graph) saveFor(other *Var, op string, t *tensor.Tensor) *SavedTensor {
	if other == nil || other.flags&wants == 0 {
		return nil
	}
	return g.save(op, t)
}

// keep is save for a temporary of the operation's own, such as a mask: the
// caller's hold on t passes to the SavedTensor.
func (g *Graph) keep(op string, t *tensor.Tensor) *SavedTensor {
	s := g.save(op, t)
	g.arena.Release(t)
	return s
}

// forget ends a SavedTensor that save made.
func (g *Graph) forget(s *SavedTensor) {
	if s.again != nil {
		s.again.leave()
	}
	g.arena.Release(s.tensor)
	*s = SavedTensor{}
	g.spareSaved = append(g.spareSaved, s)
}

// orNil is Get, and nil for nothing saved.
func (s *SavedTensor) orNil() *tensor.Tensor {
	if s == nil {
		return nil
	}
	return s.Get()
}
