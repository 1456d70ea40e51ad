//go:build !purego

package limits

import "golang.org/x/sys/cpu"

//go:generate sh -c "cd ../_asm && go run . -set limits -out ../limits/kernels_amd64.s"

// fmaFLOPs is what one turn of the loop does: two operations in each of 8 lanes
// of 12 registers.
var fmaFLOPs = 0.0

func init() {
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		fmaFLOPs = 2 * 8 * 12
	}
}

func runFMA(n int) { fmaLoop(n) }

// fmaLoop runs n turns, n > 0.
//
//go:noescape
func fmaLoop(n int)
