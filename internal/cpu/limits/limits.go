// Package limits measures what the machine can do at best, for benchmarks to be
// held against: float32 multiply-adds in registers alone, and copying memory
// that no cache holds. Both run on as many threads as jobs of package parallel.
package limits

import (
	"time"

	"github.com/stria-ml/stria/internal/parallel"
)

// FMA returns the rate of float32 fused multiply-adds, in floating-point
// operations (two each) per second, or 0 where no assembly for this processor
// says what it is.
func FMA() float64 {
	if fmaFLOPs == 0 {
		return 0
	}
	const rounds, chunk, chunks = 5, 1 << 15, 128
	return best(rounds, func() float64 {
		parallel.For(chunks, 1, func(lo, hi int) { runFMA((hi - lo) * chunk) })
		return chunk * chunks * fmaFLOPs
	})
}

// copyBytes are larger than the caches of common processors.
const copyBytes = 64 << 20

// Copy returns the rate at which memory is copied, in bytes read and written
// per second. It takes 128 MiB for as long as it runs.
func Copy() float64 {
	const rounds, grain = 7, 1 << 20
	src, dst := make([]byte, copyBytes), make([]byte, copyBytes)
	for i := 0; i < len(src); i += 1 << 10 {
		src[i], dst[i] = 1, 2 // maps the pages, each of its own
	}
	return best(rounds, func() float64 {
		parallel.For(copyBytes, grain, func(lo, hi int) { copy(dst[lo:hi], src[lo:hi]) })
		return 2 * copyBytes
	})
}

// best returns the best rate of some runs of work, which returns how much it did:
// a limit is what nothing disturbed.
func best(runs int, work func() float64) float64 {
	most := 0.0
	for range runs {
		start := time.Now()
		done := work()
		if seconds := time.Since(start).Seconds(); seconds > 0 {
			most = max(most, done/seconds)
		}
	}
	return most
}
