//go:build !purego

package limits

import "github.com/stria-ml/stria/internal/cpu/kernelset"

//go:generate sh -c "cd ../_asm && go run . -set limits -out ../limits/kernels_amd64.s"
//go:generate sh -c "cd ../_asm && go run . -set limits512 -out ../limits/kernels512_amd64.s"

// chains is how many registers a loop adds to in each turn.
const chains = 12

func init() {
	set := kernelset.Name()
	if set == kernelset.AVX2 || set == kernelset.AVX512 {
		fmaLoops = append(fmaLoops, fmaLoop{2 * 8 * chains, fmaLoop256})
	}
	if set == kernelset.AVX512 {
		fmaLoops = append(fmaLoops, fmaLoop{2 * 16 * chains, fmaLoop512})
	}
}

//go:noescape
func fmaLoop256(n int)

//go:noescape
func fmaLoop512(n int)
