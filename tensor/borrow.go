package tensor

// TensorView is a read-only, strict view of a tensor that another part of a
// program owns. It differs from the view methods of Tensor in three ways: what
// it refuses comes back as an *Error instead of a panic; nothing is wrapped,
// clamped or copied behind the caller's back (axes and indices count from 0,
// slices step by one and lie inside the extent, Reshape needs a contiguous view);
// and once the owner's storage has been written to, through whichever tensor,
// every use is an error of kind Stale. The storage's version counter so does at
// run time what a borrow checker does at compile time.
type TensorView struct {
	t       *Tensor
	version int64 // the storage's version when it was borrowed
}

// Borrow returns a read-only view of t, valid until the next write to its
// storage.
func (t *Tensor) Borrow() *TensorView {
	present("borrow", t).expose()
	return &TensorView{t: t, version: t.storage.version.Load()}
}

// Rank returns the number of axes.
func (v *TensorView) Rank() int { return v.t.Dim() }

// Shape returns the extent of every axis.
func (v *TensorView) Shape() []int { return v.t.Shape() }

// Strides returns how many elements of the owner one step along each axis skips.
func (v *TensorView) Strides() []int { return v.t.Strides() }

// BaseOffset returns the position of the view's origin in the owner's storage,
// in elements.
func (v *TensorView) BaseOffset() int { return v.t.Offset() }

// Len returns the number of elements.
func (v *TensorView) Len() int { return v.t.Len() }

// IsEmpty reports whether there are no elements.
func (v *TensorView) IsEmpty() bool { return v.t.Len() == 0 }

// IsContiguous reports whether row-major order visits one dense span of the
// storage. Axes of extent 1 may have any stride; empty views are contiguous.
func (v *TensorView) IsContiguous() bool { return v.t.IsContiguous() }

// DType returns the type of the elements.
func (v *TensorView) DType() DType { return v.t.DType() }

// StorageOffset returns the position of one element in the owner's storage, in
// elements. Errors: RankMismatch, IndexOutOfRange, Stale, Closed.
func (v *TensorView) StorageOffset(index ...int) (int, error) {
	return v.locate("storage offset", index)
}

// Get returns one element as a float64, which holds every value of every dtype
// but Int64 exactly; ViewAt reads those. Errors: as for StorageOffset.
func (v *TensorView) Get(index ...int) (float64, error) {
	pos, err := v.locate("get", index)
	if err != nil {
		return 0, err
	}
	e, err := v.t.read("get", pos)
	return e.float(), err
}

// ViewAt returns one element as its own Go type. Errors: DTypeMismatch, and as
// for StorageOffset.
func ViewAt[T Element](v *TensorView, index ...int) (value T, err error) {
	pos, err := v.locate("get", index)
	if err != nil {
		return value, err
	}
	err = Catch(func() {
		checkElement[T]("get", v.t)
		value = element[T]("get", v.t, pos)
	})
	return value, err
}

// Materialize copies the elements, in row-major order, into a new contiguous
// tensor that nobody borrows. Errors: Stale, Closed.
func (v *TensorView) Materialize() (t *Tensor, err error) {
	if err := v.check("materialize"); err != nil {
		return nil, err
	}
	err = Catch(func() { t = v.t.Clone() })
	return t, err
}

// Reshape returns a view of another shape with as many elements. It checks, in
// this order, that the requested sizes can be counted (Overflow; ElementCount for
// a negative one), that they hold as many elements (ElementCount), and that the
// view is contiguous (NotContiguous): it never copies, Materialize does.
func (v *TensorView) Reshape(shape ...int) (*TensorView, error) {
	const op = "reshape"
	return v.derive(op, func() *Tensor {
		n := count(op, shape)
		if n != v.t.size {
			panic(&Error{Op: op, Kind: ElementCount, Expected: v.t.size, Actual: n,
				Message: "shape " + dimsString(shape) + " has " + itoa(n) + " elements, but the view of shape " +
					dimsString(v.t.shape()) + " has " + itoa(v.t.size)})
		}
		requireContiguous(op, v.t, "Materialize the view and reshape the copy")
		var d dims
		d.resize(op, len(shape))
		copy(d.shape[:], shape)
		rowMajor(d.strides[:d.n], d.extents())
		return d.view(op, v.t, v.t.offset)
	})
}

// Transpose returns a view with two axes swapped. Errors: DimOutOfRange, Stale,
// Closed.
func (v *TensorView) Transpose(first, second int) (*TensorView, error) {
	const op = "transpose"
	return v.derive(op, func() *Tensor {
		v.mustHave(op, first)
		v.mustHave(op, second)
		return v.t.swap(op, first, second)
	})
}

// Permute returns a view whose axis k is this one's axis axes[k]. Errors:
// PermutationLength, DimOutOfRange, DuplicateDim, Stale, Closed.
func (v *TensorView) Permute(axes ...int) (*TensorView, error) {
	const op = "permute"
	return v.derive(op, func() *Tensor {
		if len(axes) == v.Rank() {
			for _, axis := range axes {
				v.mustHave(op, axis)
			}
		}
		return v.t.Permute(axes...)
	})
}

// Slice returns a view of the indices [start, end) of an axis. Errors:
// DimOutOfRange, IndexOutOfRange (a negative start), SliceStartAfterEnd,
// SliceEndOutOfBounds, Stale, Closed.
func (v *TensorView) Slice(axis, start, end int) (*TensorView, error) {
	const op = "slice"
	return v.derive(op, func() *Tensor {
		v.mustHave(op, axis)
		extent := v.t.shape()[axis]
		e := &Error{Op: op, Axis: axis, Start: start, End: end, Expected: extent}
		bounds := "range [" + itoa(start) + ", " + itoa(end) + ") of axis " + itoa(axis) + " of extent " + itoa(extent)
		switch {
		case start > end:
			e.Kind, e.Actual, e.Message = SliceStartAfterEnd, start, bounds+" ends before it starts"
		case end > extent:
			e.Kind, e.Actual, e.Message = SliceEndOutOfBounds, end, bounds+" ends beyond the axis"
		case start < 0:
			e.Kind, e.Actual, e.Message = IndexOutOfRange, start, bounds+" starts before the axis; indices count from 0"
		default:
			return v.t.along(op, axis, start, end-start, 1)
		}
		panic(e)
	})
}

// derive makes a view of the same loan.
func (v *TensorView) derive(op string, f func() *Tensor) (*TensorView, error) {
	if err := v.check(op); err != nil {
		return nil, err
	}
	var t *Tensor
	if err := Catch(func() { t = f() }); err != nil {
		return nil, err
	}
	return &TensorView{t: t, version: v.version}, nil
}

// check returns an error if the loan has ended.
func (v *TensorView) check(op string) error {
	if err := Catch(func() { present(op, v.t).storage.alive(op) }); err != nil {
		return err
	}
	if now := v.t.storage.version.Load(); now != v.version {
		return &Error{Op: op, Kind: Stale, Expected: int(v.version), Actual: int(now),
			Message: "the owner of this view of shape " + dimsString(v.t.shape()) + " was written to after Borrow: version " +
				itoa(int(v.version)) + " then, " + itoa(int(now)) + " now; Borrow again, or Materialize before the write"}
	}
	return nil
}

// locate checks the loan and the index, and returns the element's position.
func (v *TensorView) locate(op string, index []int) (pos int, err error) {
	if err := v.check(op); err != nil {
		return 0, err
	}
	err = Catch(func() {
		pos = v.t.position(op, index)
		for axis, i := range index {
			if i < 0 {
				panic(&Error{Op: op, Kind: IndexOutOfRange, Axis: axis, Expected: v.t.shape()[axis], Actual: i,
					Message: "index " + dimsString(index) + " is negative in axis " + itoa(axis) + "; indices of a borrowed view count from 0"})
			}
		}
	})
	return pos, err
}

// mustHave panics unless axis is one of the view's, counted from 0.
func (v *TensorView) mustHave(op string, axis int) {
	if axis < 0 || axis >= v.Rank() {
		panic(&Error{Op: op, Kind: DimOutOfRange, Axis: axis, Expected: v.Rank(), Actual: axis,
			Message: "axis " + itoa(axis) + " is out of range for shape " + dimsString(v.t.shape()) + "; axes of a borrowed view count from 0"})
	}
}
