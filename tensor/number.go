package tensor

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/stria-ml/stria/internal/half"
)

// number is one element of any dtype: a float or an integer. Bools are 0 and 1.
type number struct {
	dtype DType
	f     float64
	i     int64
}

// float returns the value as a float64, which rounds large integers.
func (n number) float() float64 {
	if n.dtype.IsFloat() {
		return n.f
	}
	return float64(n.i)
}

// read returns the storage's element at pos, on whatever device.
func (t *Tensor) read(op string, pos int) (number, error) {
	var buf [8]byte
	width := t.dtype.Size()
	if err := t.storage.device.Download(buf[:width], t.storage.mem, pos*width); err != nil {
		return number{}, &Error{Op: op, Kind: InvalidArgument, Message: "download from " + t.Device().String() + ": " + err.Error()}
	}
	n := number{dtype: t.dtype}
	bits := binary.LittleEndian.Uint64(buf[:])
	switch t.dtype {
	case Float32:
		n.f = float64(math.Float32frombits(uint32(bits)))
	case Float64:
		n.f = math.Float64frombits(bits)
	case Float16:
		n.f = float64(half.Float16(bits).Float32())
	case BFloat16:
		n.f = float64(half.BFloat16(bits).Float32())
	case Int32:
		n.i = int64(int32(bits))
	default: // Int64, Bool and Uint8, whose other bytes are 0
		n.i = int64(bits)
	}
	return n, nil
}

// numberStyle is how the floats of one tensor are written.
type numberStyle struct {
	verb byte // 'f', 'e' or 'g', as for strconv; 'i' for floats that are all integers
	prec int
}

// defaultPrecision is the number of digits behind the point, as in PyTorch.
const defaultPrecision = 4

// styleOf picks the notation for numbers to be shown side by side. Whole numbers
// keep only their point. Exponents are for numbers too large or small to stand
// in columns: from 1e8 up, below 1e-4, or more than a factor of 1000 apart.
func styleOf(numbers []number, prec int) numberStyle {
	if prec < 0 {
		prec = defaultPrecision
	}
	smallest, largest, whole := math.Inf(1), 0.0, true
	for _, n := range numbers {
		abs := math.Abs(n.f)
		if abs == 0 || math.IsNaN(abs) || math.IsInf(abs, 0) {
			continue
		}
		smallest, largest = min(smallest, abs), max(largest, abs)
		whole = whole && abs == math.Trunc(abs)
	}
	switch {
	case whole && largest < 1e8:
		return numberStyle{'i', 0}
	case largest >= 1e8 || smallest < 1e-4 || largest > 1000*smallest:
		return numberStyle{'e', prec}
	}
	return numberStyle{'f', prec}
}

// text writes n.
func (s numberStyle) text(n number) string {
	switch {
	case n.dtype == Bool:
		return strconv.FormatBool(n.i != 0)
	case !n.dtype.IsFloat():
		return strconv.FormatInt(n.i, 10)
	case math.IsNaN(n.f):
		return "nan"
	case math.IsInf(n.f, 1):
		return "inf"
	case math.IsInf(n.f, -1):
		return "-inf"
	case s.verb == 'i':
		return strconv.FormatFloat(n.f, 'f', 0, 64) + "."
	}
	bits := 64
	if n.dtype != Float64 {
		bits = 32
	}
	return strconv.FormatFloat(n.f, s.verb, s.prec, bits)
}
