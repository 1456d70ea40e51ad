package cpu

// A normalisation's weight gradients sum over all rows. The rows are cut into
// blocks by their number alone; every block has its own sums in float64, which
// are added up in the order of the blocks.

// maxBlocks bounds the memory for partial sums.
const maxBlocks = 64

// rowsPerBlock is how many of count rows of n elements make a block.
func rowsPerBlock(count, n int) int {
	return max(rowsPerChunk(n), chunksOf(count, maxBlocks))
}

// partialSums are the n sums of block i in partials, at 0; nil if that is nil.
func partialSums(partials []float64, i, n int) []float64 {
	if partials == nil {
		return nil
	}
	sums := partials[i*n:][:n]
	clear(sums)
	return sums
}

// sumBlocks writes or adds to the one line dst the sum of the blocks' partial
// sums, dst.n each.
func sumBlocks[T floating](dst *lines[T], partials []float64, blocks int, accumulate bool) {
	n := dst.n
	if n == 0 {
		return
	}
	total := partials[:n]
	for block := 1; block < blocks; block++ {
		part := partials[block*n:][:n]
		for j, v := range part {
			total[j] += v
		}
	}
	s := getScratch[T](n)
	defer putScratch(s)
	var at cursor
	row := dst.row(&at, s.take(n))
	for j, v := range total {
		if accumulate {
			row[j] += T(v)
		} else {
			row[j] = T(v)
		}
	}
	dst.store(&at, row)
}

// weightRow returns the weight vector w, packed into buf if need be; ones if it
// is absent.
func weightRow[T floating](w *lines[T], buf []T) []T {
	if !w.absent() {
		return w.row(&cursor{}, buf)
	}
	for j := range buf {
		buf[j] = 1
	}
	return buf
}

// biasRow is weightRow for the bias b: zeros if it is absent.
func biasRow[T floating](b *lines[T], buf []T) []T {
	if !b.absent() {
		return b.row(&cursor{}, buf)
	}
	clear(buf)
	return buf
}
