// Package limits measures what the machine can do at best, for benchmarks to be
// held against: float32 multiply-adds in registers alone, and copying memory
// that no cache holds. Both run on as many threads as jobs of package parallel.
package limits

import (
	"time"

	"github.com/stria-ml/stria/internal/parallel"
)

// fmaLoop does nothing but multiply-adds: flops operations in each of n turns, n > 0.
type fmaLoop struct {
	flops float64
	run   func(n int)
}

// fmaLoops are those of the kernel set in use, one for each width of its
// registers. There are none without assembly: a loop that the compiler makes uses
// a small share of the lanes, and would pass for the limit.
var fmaLoops []fmaLoop

// FMA returns the rate of float32 fused multiply-adds, in floating-point
// operations (two each) per second, with the widest registers that the kernel set
// in use has (package kernelset), or 0 where no assembly tells it.
func FMA() float64 {
	const runs, turns, chunks = 9, 1 << 15, 128
	rate := 0.0
	for _, loop := range fmaLoops {
		rate = max(rate, best(runs, func() float64 {
			parallel.For(chunks, 1, func(lo, hi int) { loop.run((hi - lo) * turns) })
			return loop.flops * turns * chunks
		}))
	}
	return rate
}

// copyBytes are more than the caches of common processors hold.
const copyBytes = 64 << 20

// Copy returns the rate at which memory is copied, in bytes read and written
// per second. It takes 128 MiB for as long as it runs.
func Copy() float64 {
	const runs, grain, page = 7, 1 << 20, 1 << 12
	src, dst := make([]byte, copyBytes), make([]byte, copyBytes)
	for i := 0; i < copyBytes; i += page {
		src[i], dst[i] = 1, 2 // pages that were never written share one
	}
	return best(runs, func() float64 {
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
