package rowvec

// Blocks of dense float32 rows, several to a call. Sums are added up in float32
// in many lanes, and these in float64: for rows of up to RowsWidth.

// RowsWidth is how wide the rows of blocks may be for the sums to be as good as
// a row's elements.
const RowsWidth = 4096

// RowScale is what normalises a row, and its gradient. The kernels know its layout.
type RowScale struct{ Mean, Rstd, Level, Pull float32 }

// Moments are the sums of a row's x-Centre and of its square.
type Moments struct{ Centre, Sum, Squares float64 }

// MeanVariance returns the mean and the variance of the n elements. Centre is the
// mean but for rounding, which the sum corrects (Chan, Golub and LeVeque 1983).
func (m Moments) MeanVariance(n int) (mean, variance float64) {
	d := m.Sum / float64(n)
	return m.Centre + d, max(m.Squares/float64(n)-d*d, 0)
}

// GradSums are a row's sums of g = w*dy and of g*normal.
type GradSums struct{ Sum, Product float64 }

// normKernels are the assembly forms, for rows and n > 0. Those with shift
// before their names subtract means, the others take them for 0.
type normKernels struct {
	squares                 func(sums *float64, x *float32, rows, n int)
	moments                 func(moments *float64, x *float32, rows, n int, inverse float64)
	addSquares              func(sums *float64, h, x, r *float32, rows, n int)
	addMoments              func(moments *float64, h, x, r *float32, rows, n int, inverse float64)
	scaleNorm               func(y, x, w *float32, scales *RowScale, rows, n int)
	shiftNorm               func(y, x, w, b *float32, scales *RowScale, rows, n int)
	scaleGradSums           func(sums *GradSums, dw, x, w, dy *float32, scales *RowScale, rows, n int)
	shiftGradSums           func(sums *GradSums, dw, db, x, w, dy *float32, scales *RowScale, rows, n int)
	scaleGrad, scaleGradAdd func(dx, x, w, dy *float32, scales *RowScale, rows, n int)
	shiftGrad, shiftGradAdd func(dx, x, w, dy *float32, scales *RowScale, rows, n int)
}

// SquaresRows writes the sums of x^2 of the rows of n > 0 elements.
func SquaresRows(sums []float64, x []float32, n int) {
	rows := len(sums)
	x = x[:rows*n]
	switch {
	case rows == 0:
	case current != nil:
		current.norms.squares(&sums[0], &x[0], rows, n)
	default:
		for r := range sums {
			sums[r] = deviation(x[r*n:][:n], 0)
		}
	}
}

// AddSquaresRows writes h = x + r and the sums of h^2 of the rows.
func AddSquaresRows(sums []float64, h, x, r []float32, n int) {
	rows := len(sums)
	h, x, r = h[:rows*n], x[:rows*n], r[:rows*n]
	switch {
	case rows == 0:
	case current != nil:
		current.norms.addSquares(&sums[0], &h[0], &x[0], &r[0], rows, n)
	default:
		add(h, x, r)
		SquaresRows(sums, h, n)
	}
}

// MomentsRows writes the moments of the rows of n > 0 elements.
func MomentsRows(moments []Moments, x []float32, n int) {
	rows := len(moments)
	x = x[:rows*n]
	switch {
	case rows == 0:
	case current != nil:
		current.norms.moments(&moments[0].Centre, &x[0], rows, n, 1/float64(n))
	default:
		for r := range moments {
			row := x[r*n:][:n]
			mean := sum(row) / float64(n)
			moments[r] = Moments{Centre: mean, Squares: deviation(row, mean)}
		}
	}
}

// AddMomentsRows writes h = x + r and the moments of h of the rows.
func AddMomentsRows(moments []Moments, h, x, r []float32, n int) {
	rows := len(moments)
	h, x, r = h[:rows*n], x[:rows*n], r[:rows*n]
	switch {
	case rows == 0:
	case current != nil:
		current.norms.addMoments(&moments[0].Centre, &h[0], &x[0], &r[0], rows, n, 1/float64(n))
	default:
		add(h, x, r)
		MomentsRows(moments, h, n)
	}
}

func add(h, x, r []float32) {
	for j, v := range x {
		h[j] = v + r[j]
	}
}

// NormRows writes (x-mean)*rstd*w + b of the rows of n = len(w) > 0 elements.
// Without b it writes x*rstd*w.
func NormRows(y, x, w, b []float32, scales []RowScale) {
	rows, n := len(scales), len(w)
	y, x = y[:rows*n], x[:rows*n]
	switch {
	case rows == 0:
	case current == nil:
		for r, s := range scales {
			norm(y[r*n:][:n], x[r*n:][:n], w, b, s.Mean, s.Rstd)
		}
	case b == nil:
		current.norms.scaleNorm(&y[0], &x[0], &w[0], &scales[0], rows, n)
	default:
		b = b[:n]
		current.norms.shiftNorm(&y[0], &x[0], &w[0], &b[0], &scales[0], rows, n)
	}
}

// NormGradSumsRows writes the sums of the rows of n = len(w) > 0 elements and
// adds normal*dy to dw and dy to db, normal = (x-mean)*rstd. Without db the means
// are 0 and the sums of g, which are not needed then, are left out.
func NormGradSumsRows(sums []GradSums, dw, db, x, w, dy []float32, scales []RowScale) {
	rows, n := len(scales), len(w)
	sums, dw, x, dy = sums[:rows], dw[:n], x[:rows*n], dy[:rows*n]
	switch {
	case rows == 0:
	case current == nil:
		for r, s := range scales {
			gradSumsRow(&sums[r], dw, db, x[r*n:][:n], w, dy[r*n:][:n], s)
		}
	case db == nil:
		current.norms.scaleGradSums(&sums[0], &dw[0], &x[0], &w[0], &dy[0], &scales[0], rows, n)
	default:
		db = db[:n]
		current.norms.shiftGradSums(&sums[0], &dw[0], &db[0], &x[0], &w[0], &dy[0], &scales[0], rows, n)
	}
}

func gradSumsRow(sums *GradSums, dw, db, x, w, dy []float32, s RowScale) {
	level, product := normGradSums(nil, nil, x, w, dy, s.Mean, s.Rstd)
	sums.Product = product
	for j, v := range x {
		dw[j] += (v - s.Mean) * s.Rstd * dy[j]
	}
	if db == nil {
		return
	}
	sums.Sum = level
	for j, g := range dy {
		db[j] += g
	}
}

// NormGradRows writes rstd*(w*dy - level - normal*pull) of the rows of n =
// len(w) > 0 elements, or adds it to dx. If not centred, means and levels are 0.
func NormGradRows(dx, x, w, dy []float32, scales []RowScale, centred, add bool) {
	rows, n := len(scales), len(w)
	dx, x, dy = dx[:rows*n], x[:rows*n], dy[:rows*n]
	if rows == 0 {
		return
	}
	if current == nil {
		for r, s := range scales {
			normGrad(dx[r*n:][:n], x[r*n:][:n], w, dy[r*n:][:n], s.Mean, s.Rstd, s.Level, s.Pull, add)
		}
		return
	}
	k := &current.norms
	f := k.scaleGrad
	switch {
	case centred && add:
		f = k.shiftGradAdd
	case centred:
		f = k.shiftGrad
	case add:
		f = k.scaleGradAdd
	}
	f(&dx[0], &x[0], &w[0], &dy[0], &scales[0], rows, n)
}
