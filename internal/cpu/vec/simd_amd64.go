//go:build !purego

package vec

import "github.com/stria-ml/stria/internal/cpu/kernelset"

//go:generate sh -c "cd ../_asm && go run . -set vec -out ../vec/kernels_amd64.s -stubs ../vec/kernels_amd64.go -pkg vec"
//go:generate sh -c "cd ../_asm && go run . -set vec512 -out ../vec/kernels512_amd64.s -stubs ../vec/kernels512_amd64.go -pkg vec"

func init() {
	for _, s := range []*set{&avx2, &avx512} {
		if kernelset.Has(s.name) {
			sets = append(sets, s)
		}
	}
	use(kernelset.Name())
}

var avx2 = set{
	name:            kernelset.AVX2,
	add:             addAVX2,
	sub:             subAVX2,
	mul:             mulAVX2,
	div:             divAVX2,
	maximum:         maximumAVX2,
	minimum:         minimumAVX2,
	addScalar:       addScalarAVX2,
	subScalar:       subScalarAVX2,
	mulScalar:       mulScalarAVX2,
	divScalar:       divScalarAVX2,
	maxScalar:       maximumScalarAVX2,
	minScalar:       minimumScalarAVX2,
	subFrom:         subFromAVX2,
	divFrom:         divFromAVX2,
	addScaled:       addScaledAVX2,
	adamW:           adamWAVX2,
	copyRows:        copyRowsAVX2,
	copyRowsStream:  copyRowsStreamAVX2,
	transpose:       transposeAVX2,
	transposeStream: transposeStreamAVX2,
	widenFloat16:    widenFloat16AVX2,
	widenBFloat16:   widenBFloat16AVX2,
	narrowFloat16:   narrowFloat16AVX2,
	narrowBFloat16:  narrowBFloat16AVX2,
	words:           wordsAVX2,
	longWords:       longWordsAVX2,
	unit:            unitAVX2,
	drop:            dropAVX2,
	normalCenter:    normalCenterAVX2,
	sqrt:            sqrtAVX2,
	abs:             absAVX2,
	neg:             negAVX2,
	reluGrad:        reluGradAVX2,
	equal:           equalAVX2,
	notEqual:        notEqualAVX2,
	less:            lessAVX2,
	lessEqual:       lessEqualAVX2,
	where:           whereAVX2,
}

var avx512 = set{
	name:            kernelset.AVX512,
	add:             addAVX512,
	sub:             subAVX512,
	mul:             mulAVX512,
	div:             divAVX512,
	maximum:         maximumAVX512,
	minimum:         minimumAVX512,
	addScalar:       addScalarAVX512,
	subScalar:       subScalarAVX512,
	mulScalar:       mulScalarAVX512,
	divScalar:       divScalarAVX512,
	maxScalar:       maximumScalarAVX512,
	minScalar:       minimumScalarAVX512,
	subFrom:         subFromAVX512,
	divFrom:         divFromAVX512,
	addScaled:       addScaledAVX512,
	adamW:           adamWAVX512,
	copyRows:        copyRowsAVX512,
	copyRowsStream:  copyRowsStreamAVX512,
	transpose:       transposeAVX512,
	transposeStream: transposeStreamAVX512,
	widenFloat16:    widenFloat16AVX512,
	widenBFloat16:   widenBFloat16AVX512,
	narrowFloat16:   narrowFloat16AVX512,
	narrowBFloat16:  narrowBFloat16AVX512,
	words:           wordsAVX512,
	longWords:       longWordsAVX512,
	unit:            unitAVX512,
	drop:            dropAVX512,
	normalCenter:    normalCenterAVX512,
	sqrt:            sqrtAVX512,
	abs:             absAVX512,
	neg:             negAVX512,
	reluGrad:        reluGradAVX512,
	equal:           equalAVX512,
	notEqual:        notEqualAVX512,
	less:            lessAVX512,
	lessEqual:       lessEqualAVX512,
	where:           whereAVX512,
}
