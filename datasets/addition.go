package datasets

import (
	"fmt"
	"strconv"

	"github.com/stria-ml/stria/internal/seeded"
	"github.com/stria-ml/stria/tokenizer"
)

const (
	// AdditionOperands is the number of values of each summand: 0 to 99.
	AdditionOperands = 100

	// DefaultHeldOut is the number of ordered pairs that [NewAddition] holds
	// out where the config does not say.
	DefaultHeldOut = 1000

	additionPairs = AdditionOperands * AdditionOperands

	// additionEnd ends every example, and pads the shorter ones.
	additionEnd = '\n'

	additionChars = " 0123456789+=" + string(additionEnd)

	// additionWidth is the length of the longest example, with its end, less
	// the one token by which targets are shifted.
	additionWidth = len("99+99=198\n") - 1
)

// Pair is an ordered pair of summands.
type Pair struct{ A, B int }

// AdditionConfig configures an [Addition].
type AdditionConfig struct {
	// HeldOut is the number of ordered pairs kept out of training, of 10,000;
	// 0 means DefaultHeldOut. One more is held out where keeping a+b and b+a
	// together needs it.
	HeldOut int

	// Seed chooses the pairs that are held out.
	Seed uint64
}

// Addition is the task of adding two numbers from 0 to 99, written as one would
// in columns: "47+85=132" and " 3+ 7=10", summands two characters wide, digits in
// their ordinary order and without leading zeros, then a line end. (Fixed columns
// are what makes the rare one-digit summands as easy to learn as the others.)
// Every ordered pair is either for training or held out, and always together
// with the pair of the same summands exchanged.
type Addition struct {
	tokenizer *tokenizer.Chars
	ids       [128]int64 // token by ASCII character
	train     []Pair
	heldOut   []Pair
	seed      uint64
}

// NewAddition returns the task with its pairs divided by config. A HeldOut that
// is negative or leaves nothing to train on is an error.
func NewAddition(config AdditionConfig) (*Addition, error) {
	want := config.HeldOut
	if want == 0 {
		want = DefaultHeldOut
	}
	// One more pair may be held out, and one must be left.
	if want < 1 || want > additionPairs-2 {
		return nil, fmt.Errorf("datasets: %d held-out pairs of %d: want 1 to %d", want, additionPairs, additionPairs-2)
	}
	chars, err := tokenizer.NewChars(additionChars)
	if err != nil {
		return nil, err
	}
	a := &Addition{tokenizer: chars, seed: config.Seed}
	for _, c := range []byte(additionChars) {
		id, err := chars.Encode(string(rune(c)))
		if err != nil {
			return nil, err
		}
		a.ids[c] = id[0]
	}
	a.divide(want)
	return a, nil
}

// divide holds out the pairs that come first in a random order of the
// unordered pairs {a, b}, until there are at least want ordered ones.
func (a *Addition) divide(want int) {
	var unordered []Pair
	for x := range AdditionOperands {
		for y := x; y < AdditionOperands; y++ {
			unordered = append(unordered, Pair{x, y})
		}
	}
	order := make([]int, len(unordered))
	seeded.New(a.seed, forHeldOut).Shuffle(order, 0)

	var held [AdditionOperands][AdditionOperands]bool
	count := 0
	for _, i := range order {
		if count >= want {
			break
		}
		p := unordered[i]
		held[p.A][p.B], held[p.B][p.A] = true, true
		count++
		if p.A != p.B {
			count++
		}
	}
	for x := range AdditionOperands {
		for y := range AdditionOperands {
			if held[x][y] {
				a.heldOut = append(a.heldOut, Pair{x, y})
			} else {
				a.train = append(a.train, Pair{x, y})
			}
		}
	}
}

// Tokenizer returns the tokenizer of the digits, the space, '+', '=' and the
// line end.
func (a *Addition) Tokenizer() tokenizer.Tokenizer { return a.tokenizer }

// End returns the token that ends an answer: the line end. It is also the
// padding of the inputs.
func (a *Addition) End() int64 { return a.ids[additionEnd] }

// Train returns the pairs to train on, in ascending order. The slice is shared:
// do not change it.
func (a *Addition) Train() []Pair { return a.train }

// HeldOut returns the pairs that are never trained on, in ascending order. The
// slice is shared: do not change it.
func (a *Addition) HeldOut() []Pair { return a.heldOut }

// Sample returns training pair i as it is printed: "47+85=132".
func (a *Addition) Sample(i int) string {
	p := a.train[i]
	return a.Prompt(p.A, p.B) + a.Answer(p.A, p.B)
}

// Prompt returns the question about x and y: "47+85=" or " 3+ 7=".
func (a *Addition) Prompt(x, y int) string { return string(appendPrompt(nil, Pair{x, y})) }

// appendPrompt appends the question about p.
func appendPrompt(text []byte, p Pair) []byte {
	text = appendColumn(text, p.A)
	text = append(text, '+')
	text = appendColumn(text, p.B)
	return append(text, '=')
}

// appendColumn appends a summand, two characters wide.
func appendColumn(text []byte, n int) []byte {
	if n < 10 {
		text = append(text, ' ')
	}
	return strconv.AppendInt(text, int64(n), 10)
}

// Answer returns what should follow the prompt, up to the line end: "132".
func (a *Addition) Answer(x, y int) string { return strconv.Itoa(x + y) }

// TrainSource returns the training examples, in Train's order.
func (a *Addition) TrainSource() Source { return &additionSource{a, a.train, "train"} }

// HeldOutSource returns the held-out examples, in HeldOut's order. A greedy
// model answers one exactly if, on its row, the largest logit is the target
// wherever the target is not [IgnoreIndex]: while a greedy answer is right, its
// tokens are the inputs of the row.
func (a *Addition) HeldOutSource() Source { return &additionSource{a, a.heldOut, "held-out"} }

// additionSource is a list of pairs as examples.
type additionSource struct {
	task  *Addition
	pairs []Pair
	part  string
}

func (s *additionSource) ID() string {
	return fmt.Sprintf("addition %s pairs=%d of %d seed=%d", s.part, len(s.pairs), additionPairs, s.task.seed)
}

func (s *additionSource) Len() int     { return len(s.pairs) }
func (s *additionSource) Context() int { return additionWidth }
func (s *additionSource) Order() Order { return Shuffled }

// Example writes pair i: the prompt and the answer as inputs, and as targets
// only the answer and its end, each where the token before it is the input.
func (s *additionSource) Example(i int, inputs, targets []int64) {
	p := s.pairs[i]
	var buf [additionWidth + 1]byte
	text := appendPrompt(buf[:0], p)
	prompt := len(text)
	text = strconv.AppendInt(text, int64(p.A+p.B), 10)
	text = append(text, additionEnd)

	pad(inputs, targets, s.task.End())
	for t, c := range text[:len(text)-1] {
		inputs[t] = s.task.ids[c]
		if t+1 >= prompt {
			targets[t] = s.task.ids[text[t+1]]
		}
	}
}
