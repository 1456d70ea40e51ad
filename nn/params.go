package nn

import (
	"iter"
	"reflect"
	"strconv"
	"strings"
	"unicode"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/tensor"
)

// Params yields the parameters of m, a layer or a model, with their names, in
// the order of its fields. A name joins the names of the fields on the way by
// dots: each is the field's tag `name:"q_proj"`, or else the field's own in
// snake_case; elements of slices have their index, embedded structs without a
// tag add nothing, and the tag "-" leaves a field out. Only exported fields
// count. Nil layers are left out, and what is shared appears once, under its
// first name.
func Params(m any) iter.Seq2[string, *autograd.Param] {
	return func(yield func(string, *autograd.Param) bool) {
		visit(m, func(name string, _ reflect.Type, p *autograd.Param) bool { return yield(name, p) })
	}
}

// visit is Params that also says which struct's field, or field's element, each
// parameter is; nil for none.
func visit(m any, yield func(name string, layer reflect.Type, p *autograd.Param) bool) {
	w := walker{yield: yield, seen: map[any]bool{}}
	w.walk("", nil, reflect.ValueOf(m))
}

var paramType = reflect.TypeFor[autograd.Param]()

// walker is one walk over a model.
type walker struct {
	yield func(string, reflect.Type, *autograd.Param) bool
	seen  map[any]bool // pointers
}

// walk visits v, which is in a struct of type layer, and reports whether to go
// on.
func (w *walker) walk(name string, layer reflect.Type, v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Interface:
		return w.walk(name, layer, v.Elem())
	case reflect.Pointer:
		return w.pointer(name, layer, v)
	case reflect.Struct:
		if v.Type() == paramType && v.CanAddr() {
			return w.pointer(name, layer, v.Addr())
		}
		return w.fields(name, v)
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if !w.walk(join(name, strconv.Itoa(i)), layer, v.Index(i)) {
				return false
			}
		}
	}
	return true
}

func (w *walker) pointer(name string, layer reflect.Type, v reflect.Value) bool {
	if v.IsNil() || w.seen[v.Interface()] {
		return true
	}
	w.seen[v.Interface()] = true
	switch p := v.Interface().(type) {
	case *autograd.Param:
		return w.yield(name, layer, p)
	case *tensor.Tensor:
		return true
	}
	return w.walk(name, layer, v.Elem())
}

func (w *walker) fields(name string, v reflect.Value) bool {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		tag, tagged := field.Tag.Lookup("name")
		if !field.IsExported() || tag == "-" {
			continue
		}
		full := name
		switch {
		case tagged:
			full = join(name, tag)
		case !field.Anonymous:
			full = join(name, snakeCase(field.Name))
		}
		if !w.walk(full, v.Type(), v.Field(i)) {
			return false
		}
	}
	return true
}

func join(prefix, name string) string {
	if prefix == "" || name == "" {
		return prefix + name
	}
	return prefix + "." + name
}

// snakeCase writes QueryNorm as query_norm and MLPNorm as mlp_norm.
func snakeCase(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		startsWord := unicode.IsUpper(r) && i > 0 &&
			(!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1]))
		if startsWord {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// Count returns the number of elements in m's parameters.
func Count(m any) int {
	n := 0
	for _, p := range Params(m) {
		n += p.Value.Len()
	}
	return n
}

// ZeroGrad forgets the gradients of m's parameters.
func ZeroGrad(m any) {
	for _, p := range Params(m) {
		p.ZeroGrad()
	}
}

// ToDevice moves m's parameters to a device, and forgets their gradients.
func ToDevice(m any, device tensor.Device) {
	for _, p := range Params(m) {
		p.Value = p.Value.ToDevice(device)
		p.Grad = nil
	}
}
