//go:build !purego

package kernelset

func available() []string { return []string{Portable, NEON} }
