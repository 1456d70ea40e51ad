// Package peakmem says how much memory this process has had resident at most.
package peakmem

import (
	"os"
	"regexp"
	"strconv"
)

// Bytes returns the most memory that the process has had resident, or 0 where
// the system does not say. It counts everything since the program began. Linux
// says so in /proc (proc(5): VmHWM); its getrusage would count what the parent
// had before the program was started.
func Bytes() uint64 {
	if status, err := os.ReadFile("/proc/self/status"); err == nil {
		return ofStatus(status)
	}
	return maxResident()
}

var peakLine = regexp.MustCompile(`(?m)^VmHWM:\s+(\d+) kB$`)

func ofStatus(status []byte) uint64 {
	match := peakLine.FindSubmatch(status)
	if match == nil {
		return 0
	}
	kib, err := strconv.ParseUint(string(match[1]), 10, 54) // so that bytes fit in 64 bits
	if err != nil {
		return 0
	}
	return kib << 10
}
