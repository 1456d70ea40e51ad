package peakmem

import (
	"runtime"
	"testing"
)

func TestOfStatus(t *testing.T) {
	for status, want := range map[string]uint64{
		"Name:\tx\nVmPeak:\t 9999 kB\nVmHWM:\t    5120 kB\nVmRSS:\t 1024 kB\n": 5 << 20,
		"Name:\tx\n":                            0,
		"VmHWM:\t many kB\n":                    0,
		"VmHWM:\t 99999999999999999999999 kB\n": 0,
	} {
		if got := ofStatus([]byte(status)); got != want {
			t.Errorf("%q: %d bytes, want %d", status, got, want)
		}
	}
}

// TestBytesGrow touches memory that the process has not had before.
func TestBytesGrow(t *testing.T) {
	before := Bytes()
	if before == 0 {
		t.Skipf("%s does not say what a process has resident", runtime.GOOS)
	}
	const more = 64 << 20
	block := make([]byte, before+more)
	for i := 0; i < len(block); i += 4096 {
		block[i] = 1
	}
	if after := Bytes(); after < before+more {
		t.Errorf("%d bytes after touching %d, want at least as many", after, len(block))
	}
	runtime.KeepAlive(block)
}
