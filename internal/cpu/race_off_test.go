//go:build !race

package cpu_test

// raceEnabled reports whether the race detector is on, which makes tests slow.
const raceEnabled = false
