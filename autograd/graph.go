package autograd

import (
	"fmt"

	"github.com/stria-ml/stria/tensor"
)

// Graph is a tape: operations on its Vars append nodes, Backward walks them in
// reverse. It owns the memory of everything made on it and belongs to one
// goroutine; several inference graphs may share parameters.
type Graph struct {
	arena     *tensor.Arena
	inference bool
	anomaly   bool
	closed    bool
	passed    bool // Backward has run
	passing   bool // Backward runs
	scopes    int  // that have not ended
	first     int  // Var of the last of these

	vars   []*Var // all Vars of this life of the graph, in order of making
	nodes  []*node
	params map[*Param]*Var
	hooks  map[*Var][]Hook
	places map[*Var]place // anomaly mode: the call behind each Var

	slab       []Var   // the next Vars
	reuse      bool    // Vars, after Reset
	slabs      [][]Var // with reuse, all there are
	begun      int     // how many of them hold Vars
	spareNodes []*node
	spareSaved []*SavedTensor
	spareAgain []*again
	current    *node // whose backward runs
	lent       loan
}

// Option configures a Graph.
type Option func(*Graph)

// Inference makes a graph that records nothing: its Vars want no gradients, and
// Scope returns memory at once.
func Inference() Option { return func(g *Graph) { g.inference = true } }

// OnDevice puts the graph's intermediates on a device; the default is the CPU.
func OnDevice(d tensor.Device) Option { return func(g *Graph) { g.arena = tensor.NewArena(d) } }

// DetectAnomaly makes a graph check every result and every gradient for NaN
// and Inf. The first one found is a *tensor.Error of kind NonFinite that names
// the forward call, by file and line, behind it. Slow.
func DetectAnomaly() Option { return func(g *Graph) { g.anomaly = true } }

// ReuseVars makes Reset keep the graph's Vars for reuse, so that a loop allocates
// none. A Var from before a Reset is then another one afterwards, and its use no
// error: it is for loops that keep no Vars, as that of generation.
func ReuseVars() Option { return func(g *Graph) { g.reuse = true } }

// NewGraph returns an empty graph. Close ends it.
func NewGraph(options ...Option) *Graph {
	g := &Graph{params: map[*Param]*Var{}}
	for _, option := range options {
		option(g)
	}
	if g.arena == nil {
		g.arena = tensor.NewArena(tensor.CPU)
	}
	if g.anomaly {
		g.places = map[*Var]place{}
	}
	return g
}

// Recording reports whether operations are recorded for Backward.
func (g *Graph) Recording() bool { return !g.inference }

// Device returns where the graph's intermediates are.
func (g *Graph) Device() tensor.Device { return g.arena.Device() }

// Memory is what a graph's intermediates take, in bytes.
type Memory struct {
	Held     int // in use now
	Peak     int // the most that was in use at a time
	Reserved int // got from the device and kept for reuse
}

// Memory returns what the graph's intermediates take.
func (g *Graph) Memory() Memory {
	return Memory{Held: g.arena.Held(), Peak: g.arena.Peak(), Reserved: g.arena.Reserved()}
}

// Const brings a tensor into the graph as a constant. The graph shares it: a
// write to it before Backward is found by the version check if something saved
// it.
func (g *Graph) Const(t *tensor.Tensor) *Var {
	g.usable("const")
	return g.newVar(g.arena.Alias(t), brought)
}

// Leaf brings a tensor into the graph as an input that wants a gradient, to be
// read with Grad after Backward.
func (g *Graph) Leaf(t *tensor.Tensor) *Var {
	g.usable("leaf")
	g.checkWanting("leaf", t)
	if g.inference {
		return g.newVar(g.arena.Alias(t), brought)
	}
	return g.newVar(g.arena.Alias(t), wants|brought|retained)
}

// checkWanting refuses a tensor that cannot have a gradient on g.
func (g *Graph) checkWanting(op string, t *tensor.Tensor) {
	if !differentiable(t.DType()) {
		panic(&tensor.Error{Op: op, Kind: tensor.DTypeMismatch,
			Message: fmt.Sprintf("a %v tensor cannot have a gradient, only float32 and float64 can; bring it in with Const", t.DType())})
	}
	if t.Device() != g.Device() {
		panic(&tensor.Error{Op: op, Kind: tensor.DeviceMismatch,
			Message: fmt.Sprintf("the tensor is on %v and the graph on %v; move it with ToDevice first", t.Device(), g.Device())})
	}
}

// differentiable reports whether tensors of a dtype have gradients.
func differentiable(d tensor.DType) bool { return d == tensor.Float32 || d == tensor.Float64 }

// Param brings a parameter into the graph; its gradient accumulates into
// p.Grad. Asked again, the graph returns the same Var. A recording graph marks
// the parameter as read: writes to it in place are refused until Backward is
// over, or Reset or Close.
func (g *Graph) Param(p *Param) *Var {
	g.usable("param")
	if v, known := g.params[p]; known {
		return v
	}
	flags := brought
	if !g.inference && !p.Frozen {
		g.checkWanting("param", p.Value)
		flags |= wants
	}
	v := g.newVar(g.arena.Alias(p.Value), flags)
	if flags&wants != 0 {
		v.param = p
		v.value.MarkRead()
	}
	g.params[p] = v
	return v
}

// Scope runs f and then gives back what f made on the graph and nobody saved
// for Backward, except f's result, also when f panics. Blocks of a model use it,
// so that inference keeps one block's activations at a time.
func (g *Graph) Scope(f func() *Var) (out *Var) {
	g.usable("scope")
	first, outer := len(g.vars), g.first
	g.first = first
	g.scopes++
	defer func() {
		g.scopes--
		g.first = outer
		g.endScope(first, out)
	}()
	return f()
}

// endScope gives back the Vars from first on that were made by operations,
// except out. A recording graph keeps their shapes for Backward.
func (g *Graph) endScope(first int, out *Var) {
	kept := first
	for i := first; i < len(g.vars); i++ {
		v := g.vars[i]
		passes := v != out && v.flags&(brought|retained) == 0
		if passes && g.inference {
			v.end()
			continue
		}
		if passes {
			v.giveBack()
		}
		g.vars[kept] = v
		kept++
	}
	clear(g.vars[kept:])
	g.vars = g.vars[:kept]
}

// Reset gives everything back and makes the graph empty, to be used again.
// Parameters can be written again. It is refused inside of Scope and Backward.
func (g *Graph) Reset() {
	if g.scopes > 0 || g.passing {
		panic(&tensor.Error{Op: "reset", Kind: tensor.InvalidArgument,
			Message: "the graph is inside of a Scope or of Backward, which still need it; Reset or Close it after them"})
	}
	g.clear()
	g.arena.Reclaim()
}

// clear ends all nodes and Vars.
func (g *Graph) clear() {
	g.unmark()
	for _, n := range g.nodes {
		g.recycle(n)
	}
	for i, v := range g.vars {
		v.end()
		g.vars[i] = nil
	}
	g.vars, g.nodes = g.vars[:0], g.nodes[:0]
	if g.reuse {
		g.slab, g.begun = nil, 0
	}
	clear(g.params)
	clear(g.hooks)
	clear(g.places)
	g.passed, g.lent = false, loan{}
}

// Close gives everything back for good. A second Close does nothing.
func (g *Graph) Close() {
	if g.closed {
		return
	}
	g.Reset()
	g.arena.Trim()
	g.closed = true
}

// unmark takes the read marks off the parameters.
func (g *Graph) unmark() {
	for _, v := range g.params {
		if v.param != nil {
			v.value.UnmarkRead()
			v.param = nil
		}
	}
}

// refuse panics with a *tensor.Error that has no numbers.
func refuse(op string, kind tensor.Kind, format string, args ...any) {
	panic(&tensor.Error{Op: op, Kind: kind, Message: fmt.Sprintf(format, args...)})
}

// usable refuses a graph that was closed.
func (g *Graph) usable(op string) {
	if g.closed {
		panic(&tensor.Error{Op: op, Kind: tensor.Closed, Message: "the graph is closed; make a new one"})
	}
}
