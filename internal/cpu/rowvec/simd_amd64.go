//go:build !purego

package rowvec

import "github.com/stria-ml/stria/internal/cpu/kernelset"

func init() {
	for _, set := range []*kernels{&avx2, &avx512} {
		if kernelset.Has(set.name) {
			sets = append(sets, set)
		}
		if kernelset.Name() == set.name {
			current = set
		}
	}
}
