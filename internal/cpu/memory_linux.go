package cpu

import "syscall"

// machineMemory returns the bytes of memory and swap space that the machine
// has. Linux refuses a larger allocation, and Go ends the program over that.
func machineMemory() uint64 {
	var info syscall.Sysinfo_t
	if err := syscall.Sysinfo(&info); err != nil {
		return maxAlloc
	}
	return (uint64(info.Totalram) + uint64(info.Totalswap)) * uint64(info.Unit)
}
