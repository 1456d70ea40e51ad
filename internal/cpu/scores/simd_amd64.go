//go:build !purego

package scores

import (
	"unsafe"

	"github.com/stria-ml/stria/internal/cpu/gemm"
	"github.com/stria-ml/stria/internal/cpu/kernelset"
)

func init() {
	for _, set := range []*kernelSet{&avx2, &avx512} {
		if !kernelset.Has(set.name) {
			continue
		}
		forms32 = append(forms32, form{set.name, func() Kernels[float32] { return &simd{set: set} }})
		if kernelset.Name() == set.name {
			current32 = len(forms32) - 1
		}
	}
}

// kernelSet is the assembly of one vector extension. Products have tiles of two
// vectors of columns.
type kernelSet struct {
	name  string
	lanes int
	// tiles are the products by rows, for rows whose vectors are whole, whose second
	// vector is masked, and that have one vector, masked. Each goes through a
	// column of tiles.
	tiles                                 [3][]func(*mulArgs)
	transpose                             func(dst unsafe.Pointer, ds int, rows *[16]unsafe.Pointer, n, ahead int)
	softmax, softmaxGrad, scaleRows, dots func(*rowArgs)
}

// simd runs the kernels of a set. Their arguments lie here since on the stack
// they would be allocated anew for each call.
type simd struct {
	set      *kernelSet
	mul      mulArgs
	masked   int // lanes of mul.mask
	rows     rowArgs
	pointers [16]unsafe.Pointer
}

// mulArgs are the arguments of a product, strides in bytes.
type mulArgs struct {
	a, b, c            unsafe.Pointer
	rsa, csa, rsb, rsc int
	k                  int
	tiles              int // of full height
	stepA              int // from one tile of A to the next
	alpha              float32
	add                uint32
	mask               [16]int32 // -1 in the lanes of the last vector
	stepC              int       // from one tile of C to the next, which is prefetched
}

// rowArgs are the arguments of a kernel on rows, strides in bytes.
type rowArgs struct {
	x, y, first, second unsafe.Pointer
	strideX, strideY    int
	count               int
	bytes               int // of the whole vectors of a row
	lo, hi              int
	loStep, hiStep, max int
	tail                int // floats after the whole vectors
	mask                [16]int32
}

const f32Size = 4

func base(x []float32) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(x)) }

func (v *simd) TileRows() int      { return len(v.set.tiles[0]) - 1 }
func (v *simd) PanelKeys() int     { return 2 * v.set.lanes }
func (v *simd) PanelLen(d int) int { return 2 * v.set.lanes * d }

// Pack transposes as many keys at a time as a vector has lanes.
func (v *simd) Pack(panels []float32, src gemm.Matrix[float32], lo, hi, d int) {
	width, step := v.PanelKeys(), v.PanelLen(d)
	if src.Col != 1 || d == 0 {
		packElements(panels, step, width, src, lo, hi, d)
		return
	}
	for s := lo; s < hi; s += v.set.lanes {
		last := min(s+v.set.lanes, hi) - 1
		for i := range v.pointers[:v.set.lanes] {
			v.pointers[i] = base(src.Data[min(s+i, last)*src.Row:])
		}
		v.set.transpose(base(panels[s/width*step+s%width:]), width*f32Size, &v.pointers, d, v.set.lanes*src.Row*f32Size)
	}
	v.pointers = [16]unsafe.Pointer{}
}

func (v *simd) Score(m, lo, hi, d int, alpha float32, a gemm.Matrix[float32], panels, c []float32, ldc int) {
	width, step := v.PanelKeys(), v.PanelLen(d)
	v.begin(d, alpha, a, width, ldc, false)
	for s := lo; s < hi; s += width {
		v.column(m, v.kind(RoundUp(min(width, hi-s))), a, panels[s/width*step:], c[s:], ldc)
	}
	v.mul.a, v.mul.b, v.mul.c = nil, nil, nil
}

func (v *simd) Mul(m, n, k int, alpha float32, a, b, c gemm.Matrix[float32], add bool) {
	if m <= 0 || n <= 0 {
		return
	}
	width := 2 * v.set.lanes
	v.begin(k, alpha, a, b.Row, c.Row, add)
	for j := 0; j < n; j += width {
		v.column(m, v.kind(min(width, n-j)), a, b.Data[j:], c.Data[j:], c.Row)
	}
	v.mul.a, v.mul.b, v.mul.c = nil, nil, nil
}

// begin sets the arguments that all columns of a product share.
func (v *simd) begin(k int, alpha float32, a gemm.Matrix[float32], ldb, ldc int, add bool) {
	x := &v.mul
	x.rsa, x.csa, x.stepA = a.Row*f32Size, a.Col*f32Size, v.TileRows()*a.Row*f32Size
	x.rsb, x.rsc, x.stepC = ldb*f32Size, ldc*f32Size, v.TileRows()*ldc*f32Size
	x.k, x.alpha, x.add = k, alpha, 0
	if add {
		x.add = 1
	}
}

// kind returns which tiles compute the next cols columns, and sets their mask.
func (v *simd) kind(cols int) int {
	lanes := v.set.lanes
	if last := (cols-1)%lanes + 1; last != v.masked {
		setMask(v.mul.mask[:lanes], last)
		v.masked = last
	}
	switch {
	case cols >= 2*lanes:
		return 0
	case cols > lanes:
		return 1
	}
	return 2
}

// setMask sets the first n lanes.
func setMask(mask []int32, n int) {
	for i := range mask {
		mask[i] = 0
		if i < n {
			mask[i] = -1
		}
	}
}

// column computes m rows of one column of tiles.
func (v *simd) column(m, kind int, a gemm.Matrix[float32], b, c []float32, ldc int) {
	x, tiles, mr := &v.mul, v.set.tiles[kind], v.TileRows()
	x.b = base(b)
	if full := m / mr; full > 0 {
		x.a, x.c, x.tiles = base(a.Data), base(c), full
		tiles[mr](x)
	}
	if rest := m % mr; rest > 0 {
		done := m - rest
		x.a, x.c, x.tiles = base(a.Data[done*a.Row:]), base(c[done*ldc:]), 1
		tiles[rest](x)
	}
}

func (v *simd) Softmax(x Rows[float32], w Window, top, sum []float32) {
	if v.setRows(x, w, top, sum) {
		v.run(v.set.softmax)
	}
}

func (v *simd) SoftmaxGrad(x, y Rows[float32], w Window, shift, delta []float32) {
	if v.setRows(x, w, shift, delta) {
		v.rows.y, v.rows.strideY = base(y.Data), y.Stride*f32Size
		v.run(v.set.softmaxGrad)
	}
}

func (v *simd) Scale(x Rows[float32], factor []float32) {
	if v.setRows(x, Window{}, factor, nil) {
		v.setTail(x.Width)
		v.run(v.set.scaleRows)
	}
}

func (v *simd) Dot(dst []float32, x, y Rows[float32]) {
	clear(dst[:x.Count]) // for rows of no width
	if v.setRows(x, Window{}, dst, nil) {
		v.rows.y, v.rows.strideY = base(y.Data), y.Stride*f32Size
		v.setTail(x.Width)
		v.run(v.set.dots)
	}
}

// setRows sets the arguments and reports whether there are rows.
func (v *simd) setRows(x Rows[float32], w Window, first, second []float32) bool {
	r := &v.rows
	r.x, r.first, r.second = base(x.Data), base(first), base(second)
	r.strideX, r.count, r.bytes = x.Stride*f32Size, x.Count, x.Width*f32Size
	r.lo, r.hi, r.max, r.loStep, r.hiStep = w.Lo, w.Hi, w.Max, w.LoStep, w.HiStep
	return x.Count > 0 && x.Width > 0
}

// setTail sets how rows end whose width is no multiple of a vector.
func (v *simd) setTail(width int) {
	r := &v.rows
	r.tail = width % v.set.lanes
	r.bytes = (width - r.tail) * f32Size
	setMask(r.mask[:v.set.lanes], r.tail)
}

func (v *simd) run(kernel func(*rowArgs)) {
	kernel(&v.rows)
	v.rows.x, v.rows.y, v.rows.first, v.rows.second = nil, nil, nil, nil
}
