//go:build race

package autograd_test

// raceEnabled reports whether the race detector is on, under which pools forget
// what they hold.
const raceEnabled = true
