package images

import (
	"encoding/binary"

	"github.com/stria-ml/stria/internal/philox"
	"github.com/stria-ml/stria/internal/seeded"
)

// augmenter changes images of one shape. It belongs to one goroutine.
type augmenter struct {
	Augmentation
	shape Shape

	crop, shift, flip, erase, noise seeded.Stream

	rows, columns []int   // where each row and column comes from; -1 is nowhere
	out           []uint8 // (C, H, W)
}

func newAugmenter(a Augmentation, shape Shape, seed uint64) *augmenter {
	return &augmenter{
		Augmentation: a,
		shape:        shape,
		crop:         seeded.New(seed, forCrop),
		shift:        seeded.New(seed, forShift),
		flip:         seeded.New(seed, forFlip),
		erase:        seeded.New(seed, forErase),
		noise:        seeded.New(seed, forNoise),
		rows:         make([]int, shape.Height),
		columns:      make([]int, shape.Width),
		out:          make([]uint8, shape.Elements()),
	}
}

// apply returns the changed image: pixels itself, or the augmenter's own buffer,
// which is valid until the next call. It allocates nothing.
func (a *augmenter) apply(pixels []uint8, position uint64) []uint8 {
	if a.Augmentation == (Augmentation{}) {
		return pixels
	}
	trace(a.rows, a.offset(a.crop, a.Crop, position, 0), a.offset(a.shift, a.Shift, position, 0), false)
	trace(a.columns, a.offset(a.crop, a.Crop, position, 1), a.offset(a.shift, a.Shift, position, 1),
		a.flip.Unit([2]uint64{position}) < a.Flip)
	gather(a.out, pixels, a.shape, a.rows, a.columns)
	if a.erase.Unit([2]uint64{position}) < a.Erase {
		if r, ok := chooseRectangle(a.shape, a.erase, position); ok {
			a.fill(r, position)
		}
	}
	return a.out
}

// offset returns a random number from -most to most.
func (a *augmenter) offset(stream seeded.Stream, most int, position, axis uint64) int {
	if most == 0 {
		return 0
	}
	return stream.Below(2*most+1, [2]uint64{position, axis}) - most
}

// trace writes where each line of an axis comes from: a crop that starts at
// line crop, moved by shift, and turned around where flipped says so.
func trace(lines []int, crop, shift int, flipped bool) {
	n := len(lines)
	for i := range lines {
		at := i
		if flipped {
			at = n - 1 - i
		}
		at -= shift
		if at < 0 || at >= n {
			lines[i] = -1
			continue
		}
		lines[i] = reflect(at+crop, n)
	}
}

// reflect returns the line of 0 to n-1 that line i of the mirrored image shows:
// for n = 4 the lines from -3 on are 3 2 1 0 1 2 3 2 1 0.
func reflect(i, n int) int {
	if n == 1 {
		return 0
	}
	period := 2 * (n - 1)
	i %= period
	if i < 0 {
		i += period
	}
	return min(i, period-i)
}

// gather writes dst[c, y, x] = src[c, rows[y], columns[x]], and 0 where either
// is -1.
func gather(dst, src []uint8, shape Shape, rows, columns []int) {
	width := shape.Width
	for c := range shape.Channels {
		plane := src[c*shape.Height*width : (c+1)*shape.Height*width]
		for y, row := range rows {
			out := dst[(c*shape.Height+y)*width:][:width]
			if row < 0 {
				clear(out)
				continue
			}
			in := plane[row*width:][:width]
			for x, column := range columns {
				out[x] = 0
				if column >= 0 {
					out[x] = in[column]
				}
			}
		}
	}
}

// fill writes random bytes over the rectangle in every channel, sixteen from
// each block of the generator.
func (a *augmenter) fill(r rectangle, position uint64) {
	var block [16]byte
	used, number := len(block), uint64(0)
	for c := range a.shape.Channels {
		for y := r.top; y < r.top+r.height; y++ {
			row := a.out[(c*a.shape.Height+y)*a.shape.Width+r.left:][:r.width]
			for len(row) > 0 {
				if used == len(block) {
					words := philox.Pair(uint64(a.noise), [2]uint64{position, number})
					binary.LittleEndian.PutUint64(block[:8], words[0])
					binary.LittleEndian.PutUint64(block[8:], words[1])
					used, number = 0, number+1
				}
				n := copy(row, block[used:])
				row, used = row[n:], used+n
			}
		}
	}
}
