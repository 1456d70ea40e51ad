//go:build !purego

package kernelset

import "golang.org/x/sys/cpu"

// available lists the sets there are, the best last. The flags say that the
// operating system keeps the registers, too.
func available() []string {
	sets := []string{Portable}
	x := &cpu.X86
	if !x.HasAVX2 || !x.HasFMA {
		return sets
	}
	sets = append(sets, AVX2)
	if x.HasBMI2 && x.HasAVX512F && x.HasAVX512VL && x.HasAVX512BW && x.HasAVX512DQ {
		sets = append(sets, AVX512)
	}
	return sets
}
