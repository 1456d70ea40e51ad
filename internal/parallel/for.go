package parallel

import "github.com/stria-ml/stria/internal/freelist"

// For calls body(lo, hi) for consecutive ranges of [0, n), each of grain
// elements but for the last, which may be shorter. Ranges depend on n and grain alone.
// A grain below 1 counts as 1.
//
// A body that captures variables is one allocation per call; a loop that may not
// allocate implements Task.
func For(n, grain int, body func(lo, hi int)) {
	grain = max(grain, 1)
	if n <= grain {
		if n > 0 {
			body(0, n)
		}
		return
	}
	l := loops.Get()
	l.n, l.grain, l.body = n, grain, body
	defer func() {
		l.body = nil
		loops.Put(l)
	}()
	Run(l, (n-1)/grain+1)
}

// loop is the Task of For.
type loop struct {
	n, grain int
	body     func(lo, hi int)
}

func (l *loop) Chunk(i, _ int) {
	lo := i * l.grain
	l.body(lo, lo+min(l.grain, l.n-lo))
}

// loops are the loop values ready for reuse.
var loops freelist.List[loop]
