//go:build !(darwin || freebsd || netbsd || openbsd || dragonfly)

package peakmem

func maxResident() uint64 { return 0 }
