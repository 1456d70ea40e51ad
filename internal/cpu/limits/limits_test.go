package limits

import (
	"testing"
	"time"
)

// TestRates checks that the probes run and tell a rate, or that there is none.
func TestRates(t *testing.T) {
	if rate := FMA(); (rate > 0) != (len(fmaLoops) > 0) {
		t.Errorf("FMA() is %g, of %d loops", rate, len(fmaLoops))
	}
	if rate := Copy(); !(rate > 0) {
		t.Errorf("Copy() is %g", rate)
	}
}

func TestBestIsTheLeastDisturbedRun(t *testing.T) {
	amounts := []float64{1e3, 1e12, 1e3} // of about the same time
	run := 0
	rate := best(len(amounts), func() float64 {
		time.Sleep(time.Microsecond) // clocks may be coarse
		run++
		return amounts[run-1]
	})
	if run != 3 || rate < 1e12 {
		t.Errorf("%d runs, rate %g", run, rate)
	}
}
