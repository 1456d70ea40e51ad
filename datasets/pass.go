package datasets

// Pass walks over all examples of a [Source] once and in order, in batches of
// one size: the iterator of an evaluation. It has no random state, so an
// evaluation does not change the training that it interrupts.
type Pass struct {
	source    Source
	batchSize int
	next      int // the first example of the next batch
}

// NewPass returns a pass at its start. A batch size below 1 is an error; a
// source without examples is a pass that is over at once.
func NewPass(source Source, batchSize int) (*Pass, error) {
	if err := checkBatch(source, batchSize); err != nil {
		return nil, err
	}
	return &Pass{source: source, batchSize: batchSize}, nil
}

// Next writes the next batch into inputs: (B, T) and targets: (B, T) and
// returns the number of its rows that are examples, 0 at the end. The rows
// after them have inputs 0 and targets [IgnoreIndex], so that the last batch
// has the shape of the others. Slices of another length than B·T are an error.
// Next allocates nothing.
func (p *Pass) Next(inputs, targets []int64) (rows int, err error) {
	if err := checkBuffers(p.source, p.batchSize, inputs, targets); err != nil {
		return 0, err
	}
	rows = min(p.batchSize, p.source.Len()-p.next)
	width := p.source.Context()
	for b := range rows {
		p.source.Example(p.next+b, inputs[b*width:(b+1)*width], targets[b*width:(b+1)*width])
	}
	pad(inputs[rows*width:], targets[rows*width:], 0)
	p.next += rows
	return rows, nil
}

// Source returns the source that the pass walks over.
func (p *Pass) Source() Source { return p.source }

// Batches returns the number of batches in the whole pass.
func (p *Pass) Batches() int { return ceilDiv(p.source.Len(), p.batchSize) }

// Reset moves the pass back to its start.
func (p *Pass) Reset() { p.next = 0 }

// ceilDiv returns n/d rounded up, for n >= 0 and d > 0, without overflow.
func ceilDiv(n, d int) int {
	q := n / d
	if n%d != 0 {
		q++
	}
	return q
}
