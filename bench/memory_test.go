package bench

import (
	"os"
	"regexp"
	"strconv"
	"testing"
)

// peakResident returns the most memory that the process has had resident, in
// MiB, or 0 where the system does not say (proc(5): VmHWM). It counts all that
// ran in the process so far.
func peakResident() float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	return peakOf(status)
}

var peakLine = regexp.MustCompile(`(?m)^VmHWM:\s+(\d+) kB$`)

func peakOf(status []byte) float64 {
	match := peakLine.FindSubmatch(status)
	if match == nil {
		return 0
	}
	kib, err := strconv.ParseFloat(string(match[1]), 64)
	if err != nil {
		return 0
	}
	return kib / 1024
}

func TestPeakOf(t *testing.T) {
	for status, want := range map[string]float64{
		"Name:\tx\nVmPeak:\t 9999 kB\nVmHWM:\t    5120 kB\nVmRSS:\t 1024 kB\n": 5,
		"Name:\tx\n":         0,
		"VmHWM:\t many kB\n": 0,
	} {
		if got := peakOf([]byte(status)); got != want {
			t.Errorf("%q: %g MiB, want %g", status, got, want)
		}
	}
}
