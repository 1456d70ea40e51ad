//go:build !race

package tensor

// raceEnabled reports whether the race detector is on, which makes tests slow.
const raceEnabled = false
