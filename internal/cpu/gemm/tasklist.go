package gemm

import (
	"github.com/stria-ml/stria/internal/cpu/kernelset"
	"github.com/stria-ml/stria/internal/freelist"
)

// taskList holds the tasks of one kernel set that are ready for reuse, as many
// as there were ever calls at the same time.
type taskList[T Float] struct {
	name      string
	tasks     freelist.List[task[T]]
	newKernel func() kernel[T]
}

var (
	portable32 = taskList[float32]{name: kernelset.Portable, newKernel: func() kernel[float32] { return new(portable[float32]) }}
	portable64 = taskList[float64]{name: kernelset.Portable, newKernel: func() kernel[float64] { return new(portable[float64]) }}

	// sets32 are the sets for float32 that this processor has.
	sets32 = []*taskList[float32]{&portable32}
	// tasks32 is the one in use, chosen when the program starts.
	tasks32 = &portable32
)

// useSet32 chooses one of sets32.
func useSet32(name string) {
	for _, set := range sets32 {
		if set.name == name {
			tasks32 = set
		}
	}
}

// tasksOf is the list for T.
func tasksOf[T Float]() *taskList[T] {
	var zero T
	var list any = &portable64
	if _, ok := any(zero).(float32); ok {
		list = tasks32
	}
	return list.(*taskList[T])
}

func (l *taskList[T]) get() *task[T] {
	if t := l.tasks.Take(); t != nil {
		return t
	}
	return &task[T]{kern: l.newKernel()}
}

// put takes t back and drops its references to the caller's memory.
func (l *taskList[T]) put(t *task[T]) {
	none := Matrix[T]{}
	t.a, t.b, t.c = none, none, none
	t.pa, t.pb, t.pc = none, none, none
	t.slab.b, t.bias, t.finisher = none, nil, nil
	for i := range t.workers[:t.used] {
		s := &t.workers[i]
		s.slab.b = none
		s.block = block[T]{}
		s.vec = vectorProduct[T]{}
	}
	l.tasks.Put(t)
}
