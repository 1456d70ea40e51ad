//go:build !race

package train_test

// raceEnabled says that the race detector counts and slows everything.
const raceEnabled = false
