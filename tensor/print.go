package tensor

import (
	"fmt"
	"io"
	"strings"
)

const (
	printAll  = 1000 // elements up to which a tensor is printed whole
	edgeItems = 3    // indices shown at each end of a dim that is cut short
	lineWidth = 80
	maxDigits = 1074    // behind the point of a float64, at most
	maxWidth  = 1200    // of a column: room for any number with all its digits
	largest   = 1 << 20 // elements, more than which are never printed whole
	openText  = "tensor("
	cutText   = "..."
)

// String returns the elements in nested brackets and aligned columns, as
// Format's %v writes them. It panics with Closed if the tensor's graph took its
// memory back.
func (t *Tensor) String() string {
	return t.render(printOptions{verb: 'v', prec: -1})
}

// Format implements fmt.Formatter. %v and %s choose a notation that suits all
// elements, %f, %e and %g set it for floats, and %d is for integers. A precision
// sets the digits behind the point (4 by default), a width the least width of a
// column. Tensors of more than 1000 elements show the ends of long dims, unless
// the flag # asks for all, of up to a million; the flag + adds dtype, shape, strides, offset and
// version. Float32, Int64 and Bool go without saying; other dtypes are named,
// and shapes where the brackets do not show them.
func (t *Tensor) Format(f fmt.State, verb rune) {
	present("print", t)
	if !strings.ContainsRune("vsfegd", verb) || verb == 'd' && t.dtype.IsFloat() {
		fmt.Fprintf(f, "%%!%c(*tensor.Tensor of %s)", verb, t.dtype)
		return
	}
	o := printOptions{verb: byte(verb), prec: -1, all: f.Flag('#'), layout: f.Flag('+')}
	if prec, given := f.Precision(); given {
		o.prec = min(prec, maxDigits)
	}
	width, _ := f.Width()
	o.width = min(width, maxWidth)
	io.WriteString(f, t.render(o))
}

// printOptions are the verb, precision, width and flags of Format.
type printOptions struct {
	verb   byte
	prec   int // -1 if not given
	width  int
	all    bool
	layout bool
}

// style returns the notation that the options set or leave to be chosen.
func (o printOptions) style(numbers []number) numberStyle {
	switch {
	case o.verb == 'g':
		return numberStyle{'g', o.prec}
	case o.verb == 'e' || o.verb == 'f':
		if o.prec < 0 {
			return numberStyle{o.verb, defaultPrecision}
		}
		return numberStyle{o.verb, o.prec}
	}
	return styleOf(numbers, o.prec)
}

// printer writes one tensor. It walks the shown elements twice: to read them,
// and, when their common width is known, to write them.
type printer struct {
	t       *Tensor
	edge    int // indices shown at each end of a dim; 0 shows all
	numbers []number
	texts   []string // of the numbers not yet written
	width   int
	out     strings.Builder
}

func (t *Tensor) render(o printOptions) string {
	present("print", t).storage.alive("print")
	p := &printer{t: t}
	if t.size > printAll && !o.all || t.size > largest {
		p.edge = edgesFor(t.shape())
	}
	if t.size > 0 {
		p.collect(0, t.offset)
	}
	p.layOut(o)
	p.out.WriteString(openText)
	if t.size == 0 {
		p.out.WriteString("[]")
	} else {
		p.write(0)
	}
	p.describe(o.layout)
	p.out.WriteByte(')')
	return p.out.String()
}

// edgesFor returns how many indices to show at each end: fewer in tensors of
// many dims.
func edgesFor(shape []int) int {
	for edge := edgeItems; edge > 1; edge-- {
		shown := 1
		for _, extent := range shape {
			shown = min(shown*min(extent, 2*edge), printAll+1)
		}
		if shown <= printAll {
			return edge
		}
	}
	return 1
}

// cut reports whether a dim is not shown whole.
func (p *printer) cut(axis int) bool { return p.edge > 0 && p.t.shape()[axis] > 2*p.edge }

// next returns the index of a dim to show after i.
func (p *printer) next(axis, i int) int {
	if p.cut(axis) && i == p.edge-1 {
		return p.t.shape()[axis] - p.edge
	}
	return i + 1
}

// collect reads the elements to show.
func (p *printer) collect(axis, pos int) {
	if axis == len(p.t.shape()) {
		n, err := p.t.read("print", pos)
		if err != nil {
			panic(err)
		}
		p.numbers = append(p.numbers, n)
		return
	}
	for i := 0; i < p.t.shape()[axis]; i = p.next(axis, i) {
		p.collect(axis+1, pos+i*p.t.strides()[axis])
	}
}

// layOut formats the numbers and finds their common width.
func (p *printer) layOut(o printOptions) {
	style := o.style(p.numbers)
	p.texts = make([]string, len(p.numbers))
	p.width = o.width
	for i, n := range p.numbers {
		p.texts[i] = style.text(n)
		p.width = max(p.width, len(p.texts[i]))
	}
}

// write writes the sub-tensor whose first dim is axis, from where the cursor is.
func (p *printer) write(axis int) {
	switch rest := len(p.t.shape()) - axis; rest {
	case 0:
		p.item()
	case 1:
		p.row(axis)
	default:
		p.out.WriteByte('[')
		for i := 0; i < p.t.shape()[axis]; i = p.next(axis, i) {
			if i > 0 {
				p.breakLine(axis, rest-1)
			}
			p.write(axis + 1)
			if p.cut(axis) && i == p.edge-1 {
				p.breakLine(axis, rest-1)
				p.out.WriteString(cutText)
			}
		}
		p.out.WriteByte(']')
	}
}

// row writes the last dim, in as many lines as it takes.
func (p *printer) row(axis int) {
	perLine := max(1, (lineWidth-len(openText)-axis-1)/(p.width+2))
	p.out.WriteByte('[')
	for i, column := 0, 0; i < p.t.shape()[axis]; i = p.next(axis, i) {
		column = p.separate(axis, column, perLine)
		p.item()
		if p.cut(axis) && i == p.edge-1 {
			column = p.separate(axis, column, perLine)
			p.out.WriteString(" " + cutText)
		}
	}
	p.out.WriteByte(']')
}

// separate writes what stands before the item of a column, and returns the next
// column.
func (p *printer) separate(axis, column, perLine int) int {
	switch {
	case column == 0:
	case column == perLine:
		p.breakLine(axis, 1)
		column = 0
	default:
		p.out.WriteString(", ")
	}
	return column + 1
}

// item writes the next number flush right in its column.
func (p *printer) item() {
	p.spaces(p.width - len(p.texts[0]))
	p.out.WriteString(p.texts[0])
	p.texts = p.texts[1:]
}

// breakLine goes on lines further down, behind the brackets of axis and what is
// outside of it.
func (p *printer) breakLine(axis, lines int) {
	p.out.WriteByte(',')
	for range lines {
		p.out.WriteByte('\n')
	}
	p.spaces(len(openText) + axis + 1)
}

func (p *printer) spaces(n int) { p.out.WriteString(strings.Repeat(" ", max(n, 0))) }

// describe writes what the elements do not say.
func (p *printer) describe(layout bool) {
	t := p.t
	evident := t.dtype == Float32 || t.size > 0 && (t.dtype == Int64 || t.dtype == Bool)
	if layout || p.edge > 0 || t.size == 0 && len(t.shape()) > 1 {
		fmt.Fprintf(&p.out, ", shape=%s", dimsString(t.shape()))
	}
	if layout || !evident {
		fmt.Fprintf(&p.out, ", dtype=%s", t.dtype)
	}
	if name := t.Device().String(); name != CPU.String() {
		fmt.Fprintf(&p.out, ", device=%s", name)
	}
	if layout {
		fmt.Fprintf(&p.out, ", strides=%s, offset=%d, version=%d", dimsString(t.strides()), t.offset, t.Version())
	}
}
