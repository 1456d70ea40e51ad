package checkpoints

import (
	"fmt"
	"math"
	"slices"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/checkpoints/safetensors"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

// Source has named tensors, as an open safetensors.File or safetensors.Folder.
type Source interface {
	Path() string
	Infos() []safetensors.Info
	Info(name string) (info safetensors.Info, ok bool)
	Tensor(name string) (*tensor.Tensor, error)
}

// Slot says which tensor of a file has a parameter's values, and how they are
// arranged there.
type Slot struct {
	Param *autograd.Param
	Name  string // of the tensor
	Shape []int  // of the tensor, whose elements are as many as the parameter's

	// FromFile returns a view of the tensor whose elements in order are the
	// parameter's; ToFile returns a view of the parameter's value whose elements in
	// order are the tensor's. Nil where they are in the same order.
	FromFile, ToFile func(*tensor.Tensor) *tensor.Tensor
}

// Slots returns a slot for each parameter of a model, under the parameter's own
// name and shape. adapt, unless nil, may change it.
func Slots(model any, adapt func(slot *Slot)) []Slot {
	var slots []Slot
	for name, p := range nn.Params(model) {
		slot := Slot{Param: p, Name: name, Shape: p.Value.Shape()}
		if adapt != nil {
			adapt(&slot)
		}
		slots = append(slots, slot)
	}
	return slots
}

// FillOptions are Fill's choices.
type FillOptions struct {
	// Share lets parameters take the place of the source's tensors where these have
	// the right dtype and order. Tensors of mapped files cannot be written: a model
	// that shares them cannot be trained.
	Share bool
	// Check looks at a tensor that is no slot's. It returns false for one that it
	// does not know, and an error for one that contradicts the model.
	Check func(name string, src Source) (known bool, err error)
}

// Filled is what Fill did.
type Filled struct {
	Copied  int      // bytes that were copied or converted
	Shared  int      // bytes that parameters share with the source
	Checked []string // tensors that are no slot's, but known
}

// Fill gives every parameter its values from the source, converted to the
// parameter's dtype. A tensor that is missing, has another shape, or is no
// slot's and not known is an error that names it, and nothing is written then.
func Fill(slots []Slot, src Source, o FillOptions) (Filled, error) {
	var done Filled
	checked, err := checkNames(slots, src, o.Check)
	if err != nil {
		return done, fmt.Errorf("%s: %w", src.Path(), err)
	}
	done.Checked = checked
	for _, slot := range slots {
		stored, err := src.Tensor(slot.Name)
		if err != nil {
			return done, err
		}
		if err := slot.fill(stored, o.Share, &done); err != nil {
			return done, fmt.Errorf("%s: %w", src.Path(), err)
		}
	}
	return done, nil
}

// fill takes the values of stored.
func (s Slot) fill(stored *tensor.Tensor, share bool, done *Filled) error {
	value, view := s.Param.Value, stored
	if s.FromFile != nil {
		view = s.FromFile(stored)
	}
	bytes := value.Len() * value.DType().Size()
	if share && view.IsContiguous() && view.DType() == value.DType() && view.Device() == value.Device() {
		s.Param.Value = view.View(value.Shape()...)
		done.Shared += bytes
		return nil
	}
	value.View(view.Shape()...).CopyFrom(view)
	done.Copied += bytes
	return checkRange(s.Name, stored, value)
}

// checkRange refuses a conversion that made finite numbers infinite.
func checkRange(name string, from, to *tensor.Tensor) error {
	if !narrows(from.DType(), to.DType()) || countInf(from) == countInf(to) {
		return nil
	}
	return tensorError(ErrRange, name, "has numbers beyond the range of %v, found in %v", to.DType(), from.DType())
}

// narrows reports whether numbers of one dtype may be too large for the other.
func narrows(from, to tensor.DType) bool {
	rank := map[tensor.DType]int{tensor.Float16: 1, tensor.BFloat16: 2, tensor.Float32: 3, tensor.Float64: 4}
	return from.IsFloat() && to.IsFloat() && rank[to] < rank[from]
}

func countInf(t *tensor.Tensor) int64 {
	wide := t
	if !t.DType().Computes() {
		wide = t.To(tensor.Float32)
	}
	inf := wide.Abs().Eq(tensor.Full(wide.DType(), math.Inf(1)))
	return tensor.Item[int64](inf.To(tensor.Int64).Sum())
}

// checkNames compares the slots with what the source has.
func checkNames(slots []Slot, src Source, check func(string, Source) (bool, error)) (checked []string, err error) {
	wrong := checkSlots(slots, src)
	taken := map[string]bool{}
	for _, slot := range slots {
		taken[slot.Name] = true
	}
	for _, info := range src.Infos() {
		if taken[info.Name] {
			continue
		}
		known := false
		if check != nil {
			if known, err = check(info.Name, src); err != nil {
				wrong = append(wrong, err)
				continue
			}
		}
		if !known {
			wrong = append(wrong, tensorError(ErrUnknown, info.Name, "of %v %v is no parameter of the model", info.DType, info.Shape))
			continue
		}
		checked = append(checked, info.Name)
	}
	return checked, join(wrong)
}

// checkSlots returns what is wrong with the slots' tensors.
func checkSlots(slots []Slot, src Source) (wrong []error) {
	for _, slot := range slots {
		if err := slot.check(src); err != nil {
			wrong = append(wrong, err)
		}
	}
	return wrong
}

// check returns what is wrong with the slot's tensor.
func (s Slot) check(src Source) error {
	info, ok := src.Info(s.Name)
	switch {
	case !ok:
		return tensorError(ErrMissing, s.Name, "is missing, want shape %v", s.Shape)
	case !slices.Equal(info.Shape, s.Shape):
		return tensorError(ErrShape, s.Name, "has shape %v, the model wants %v", info.Shape, s.Shape)
	case !info.DType.IsFloat():
		return tensorError(ErrDType, s.Name, "is %v, want float32, float64, float16 or bfloat16", info.DType)
	}
	return nil
}

// Collect returns the tensors that a file of the slots' parameters holds, in
// dtype, or the parameters' own if it is nil. Parameters whose order and dtype
// are the file's are shared, not copied.
func Collect(slots []Slot, dtype *tensor.DType) ([]safetensors.Named, error) {
	var list []safetensors.Named
	for _, slot := range slots {
		t, err := slot.stored(dtype)
		if err != nil {
			return nil, err
		}
		list = append(list, safetensors.Named{Name: slot.Name, Tensor: t})
	}
	return list, nil
}

// stored returns what a file holds of the slot's parameter.
func (s Slot) stored(dtype *tensor.DType) (*tensor.Tensor, error) {
	value := s.Param.Value
	view := value
	if s.ToFile != nil {
		view = s.ToFile(value)
	}
	if dtype != nil && *dtype != view.DType() {
		view = view.To(*dtype)
		if err := checkRange(s.Name, value, view); err != nil {
			return nil, err
		}
	}
	if !view.IsContiguous() {
		view = view.Clone()
	}
	return view.View(s.Shape...), nil
}
