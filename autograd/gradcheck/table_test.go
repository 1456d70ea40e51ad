package gradcheck_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"strings"
	"testing"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/autograd/gradcheck"
	"github.com/stria-ml/stria/tensor"
)

// row is one use of an operation or layer. Every exported function and method
// of autograd and nn that returns a Var has at least one.
type row struct {
	covers string // such as Var.Add, Linear or nn.Linear.Forward
	note   string // what is special about this row
	f      gradcheck.Func
	inputs []*tensor.Tensor
	params []*autograd.Param
	smooth func(x float64) float64 // maps the elements to where f is smooth; nil leaves them

	checker gradcheck.Checker
	// unexpanded leaves out the expanded layout, in which elements along the first
	// dim are equal: there f has ties.
	unexpanded bool
}

// layouts turn a contiguous tensor into one of the same shape with a certain
// layout. All but expanded keep the elements.
var layouts = map[string]func(x *tensor.Tensor) *tensor.Tensor{
	"contiguous": func(x *tensor.Tensor) *tensor.Tensor { return x },
	"transposed": func(x *tensor.Tensor) *tensor.Tensor {
		if x.Dim() < 2 {
			return tensor.Stack(-1, x, x).Select(-1, 0)
		}
		return x.MT().Clone().MT()
	},
	"expanded": func(x *tensor.Tensor) *tensor.Tensor {
		if x.Dim() == 0 || x.Size(0) == 0 {
			return x
		}
		return x.Narrow(0, 0, 1).Clone().Expand(x.Shape()...)
	},
	"sliced": func(x *tensor.Tensor) *tensor.Tensor {
		shape := x.Shape()
		for i := range shape {
			shape[i] = 2*shape[i] + 1
		}
		part := tensor.Full(x.DType(), 7, append([]int{2}, shape...)...).Select(0, 1)
		for i := range shape {
			part = part.Slice(i, 1, tensor.End, 2)
		}
		return part.CopyFrom(x)
	},
}

// TestTable checks the gradients of every operation and layer, in every layout.
func TestTable(t *testing.T) {
	for _, r := range allRows() {
		for name, layout := range layouts {
			if r.unexpanded && name == "expanded" {
				continue
			}
			t.Run(strings.TrimSpace(r.covers+" "+r.note)+"/"+name, func(t *testing.T) {
				if err := r.check(layout); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// check checks the row with all its inputs and parameters in a layout.
func (r row) check(layout func(*tensor.Tensor) *tensor.Tensor) error {
	place := func(x *tensor.Tensor) *tensor.Tensor {
		if r.smooth == nil {
			return layout(x)
		}
		data := tensor.Data[float64](x)
		for i, v := range data {
			data[i] = r.smooth(v)
		}
		return layout(tensor.FromSlice(data).View(x.Shape()...))
	}
	inputs := make([]*tensor.Tensor, len(r.inputs))
	for i, x := range r.inputs {
		inputs[i] = place(x)
	}
	for _, p := range r.params {
		value := p.Value
		p.Value = place(value)
		defer func() { p.Value = value }()
	}
	r.checker.Params = r.params
	return r.checker.Check(r.f, inputs...)
}

// unchecked returns a Var and passes no gradient that differences could show.
var unchecked = map[string]string{
	"Var.Detach": "a constant: TestDetach",
}

// TestTableIsComplete fails if an operation or layer has no row.
func TestTableIsComplete(t *testing.T) {
	covered := map[string]bool{}
	for _, r := range allRows() {
		covered[r.covers] = true
	}
	known := map[string]bool{}
	for _, name := range append(returningVars(t, "..", ""), returningVars(t, "../../nn", "nn.")...) {
		known[name] = true
		if !covered[name] && unchecked[name] == "" {
			t.Errorf("%s has no row in the gradcheck table", name)
		}
	}
	for name := range covered {
		if !known[name] {
			t.Errorf("the table has a row for %s, which does not exist", name)
		}
	}
	if len(known) < 100 {
		t.Errorf("only %d operations found", len(known))
	}
}

// returningVars names the exported functions and methods of the package in dir
// that return Vars.
func returningVars(t *testing.T, dir, prefix string) []string {
	t.Helper()
	packages, err := parser.ParseDir(token.NewFileSet(), dir, func(f fs.FileInfo) bool {
		return !strings.HasSuffix(f.Name(), "_test.go")
	}, 0)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, pkg := range packages {
		for _, file := range pkg.Files {
			for _, decl := range file.Decls {
				f, ok := decl.(*ast.FuncDecl)
				if !ok || !f.Name.IsExported() || f.Type.Results == nil || !returnsVar(f.Type.Results) {
					continue
				}
				receiver := receiverOf(f)
				if receiver == "" || ast.IsExported(receiver) {
					names = append(names, prefix+strings.TrimPrefix(receiver+"."+f.Name.Name, "."))
				}
			}
		}
	}
	return names
}

// receiverOf returns the name of the type that a method belongs to.
func receiverOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	typ := f.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	return typ.(*ast.Ident).Name
}

// returnsVar reports whether a Var, or several, are among the results.
func returnsVar(results *ast.FieldList) bool {
	found := false
	ast.Inspect(results, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Name == "Var" {
			found = true
		}
		return true
	})
	return found
}

// TestBackwardCopiesNothing finds that backward passes make no implicit copy, in
// any layout.
func TestBackwardCopiesNothing(t *testing.T) {
	for _, r := range allRows() {
		for name, layout := range layouts {
			g := autograd.NewGraph()
			var in []*autograd.Var
			for _, x := range r.inputs {
				in = append(in, g.Leaf(layout(x.Abs().AddScalar(0.1))))
			}
			out := r.f(g, in)
			stop := tensor.OnCopy(func(e tensor.CopyEvent) { t.Errorf("%s %s, %s: %v", r.covers, r.note, name, e) })
			g.BackwardFrom(out, tensor.Ones(tensor.Float64, out.Shape()...))
			stop()
			g.Close()
		}
	}
}
