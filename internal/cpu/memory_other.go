//go:build !linux

package cpu

// machineMemory returns a bound of the memory that the machine has.
func machineMemory() uint64 { return maxAlloc }
