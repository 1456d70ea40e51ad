//go:build !purego

package limits

import "golang.org/x/sys/cpu"

//go:generate sh -c "cd ../_asm && go run . -set limits -out ../limits/kernels_amd64.s"
//go:generate sh -c "cd ../_asm && go run . -set limits512 -out ../limits/kernels512_amd64.s"

// chains is how many registers a loop adds to in each turn.
const chains = 12

func init() {
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		fmaLoops = append(fmaLoops, fmaLoop{2 * 8 * chains, fmaLoop256})
	}
	if cpu.X86.HasAVX512F {
		fmaLoops = append(fmaLoops, fmaLoop{2 * 16 * chains, fmaLoop512})
	}
}

//go:noescape
func fmaLoop256(n int)

//go:noescape
func fmaLoop512(n int)
