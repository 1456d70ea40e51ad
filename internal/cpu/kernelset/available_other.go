//go:build purego || !(amd64 || arm64)

package kernelset

func available() []string { return []string{Portable} }
