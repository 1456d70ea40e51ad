package images

// PassConfig configures a [Pass].
type PassConfig struct {
	BatchSize     int // images a batch, B
	Normalization Normalization
}

// Pass walks over all images of a [Source] once and in order, in batches of one
// size and without augmentation: the iterator of an evaluation. It has no random
// state, so an evaluation does not change the training that it interrupts.
type Pass struct {
	source    Source
	batchSize int
	levels    levels
	pixels    []uint8 // (C, H, W), an image of the source
	next      int     // the first image of the next batch
}

// NewPass returns a pass at its start. A batch size below 1 and a normalization
// for other channels are an error of kind [ErrConfig]; a source without images is
// a pass that is over at once.
func NewPass(source Source, config PassConfig) (*Pass, error) {
	if err := checkBatch(source, config.BatchSize); err != nil {
		return nil, err
	}
	shape := source.Shape()
	if err := config.Normalization.Check(shape.Channels); err != nil {
		return nil, err
	}
	return &Pass{
		source:    source,
		batchSize: config.BatchSize,
		levels:    config.Normalization.levels(),
		pixels:    make([]uint8, shape.Elements()),
	}, nil
}

// Next writes the next batch into pixels: (B, C, H, W), normalized, and its
// labels: (B), and returns the number of its rows that are images, 0 at the end.
// The rows after them have pixels 0 and label [IgnoreIndex], so that the last
// batch has the shape of the others. Slices of another length are an error of
// kind [ErrConfig]. Next allocates nothing.
func (p *Pass) Next(pixels []float32, labels []int64) (rows int, err error) {
	if err := checkBuffers(p.source, p.batchSize, pixels, labels); err != nil {
		return 0, err
	}
	rows = min(p.batchSize, p.source.Len()-p.next)
	size := len(p.pixels)
	for b := range rows {
		labels[b] = int64(p.source.Example(p.next+b, p.pixels))
		p.levels.apply(pixels[b*size:(b+1)*size], p.pixels)
	}
	clear(pixels[rows*size:])
	for b := rows; b < p.batchSize; b++ {
		labels[b] = IgnoreIndex
	}
	p.next += rows
	return rows, nil
}

// Source returns the source that the pass walks over.
func (p *Pass) Source() Source { return p.source }

// Batches returns the number of batches in the whole pass.
func (p *Pass) Batches() int {
	batches := p.source.Len() / p.batchSize
	if p.source.Len()%p.batchSize != 0 {
		batches++
	}
	return batches
}

// Reset moves the pass back to its start.
func (p *Pass) Reset() { p.next = 0 }
