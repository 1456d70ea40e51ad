package datasets

// IgnoreIndex is the target of a position that does not count in the loss:
// prompts and padding. It is PyTorch's default for cross-entropy.
const IgnoreIndex = -100

// Source is a numbered list of examples, each a row of T = Context() input
// tokens and as many targets: targets[t] is what should follow inputs[:t+1], or
// [IgnoreIndex]. A Source is immutable and may be shared between goroutines.
type Source interface {
	// ID describes the data well enough that sources with equal IDs and equal
	// contexts hold the same examples. Saved positions are checked against it.
	ID() string

	// Len is the number of examples.
	Len() int

	// Context is the length T of every example, in tokens.
	Context() int

	// Order is how a [Loader] draws from this source.
	Order() Order

	// Example writes example i, with 0 <= i < Len(), over all of inputs: (T)
	// and targets: (T). It allocates nothing.
	Example(i int, inputs, targets []int64)
}

// Order is how a [Loader] goes over the examples of a [Source].
type Order int

const (
	// Shuffled visits every example once an epoch, in an order that is new
	// every epoch.
	Shuffled Order = iota

	// Sampled draws each example independently of the others, with
	// replacement: for overlapping windows, whose epochs would be endless.
	Sampled
)

// String returns "shuffled" or "sampled".
func (o Order) String() string {
	switch o {
	case Shuffled:
		return "shuffled"
	case Sampled:
		return "sampled"
	}
	return "invalid order"
}

// pad writes a row's end: inputs that mean nothing, and targets that don't count.
func pad(inputs, targets []int64, input int64) {
	for t := range inputs {
		inputs[t] = input
		targets[t] = IgnoreIndex
	}
}
