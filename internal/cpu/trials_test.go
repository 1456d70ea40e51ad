package cpu_test

// trials returns how often a test draws layouts: n times, and once where the
// race detector makes every access slow; values are checked without it.
func trials(n int) int {
	if raceEnabled {
		return 1
	}
	return n
}
