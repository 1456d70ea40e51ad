package cpu

// bundle is some neighbouring lines of an operand. Lines whose elements are
// apart in memory are gathered and written back together, element by element:
// where the lines lie side by side, each cache line then serves several of them.
type bundle[T floating] struct {
	lines *lines[T]
	at    [bundleLines]int // offsets of the lines' first elements
	count int
	buf   []T // the gathered lines, pitch elements from one to the next
}

const (
	bundleLines = 16
	// bundleElements is how many elements the lines of a bundle have together,
	// if they are more than one.
	bundleElements = 1 << 15
	// bundleGap keeps elements of different lines off the same cache sets.
	bundleGap = 16
)

// linesPerBundle is how many lines of n elements make a bundle.
func linesPerBundle(n int) int { return min(bundleLines, max(1, bundleElements/max(n, 1))) }

// bundleRoom is how many elements of scratch a bundle of lines of n takes.
func bundleRoom(n int) int { return linesPerBundle(n) * (n + bundleGap) }

// set makes b the count lines of l from c on, moves c behind them, and gives b
// room to gather them.
func (b *bundle[T]) set(l *lines[T], c *cursor, count int, buf []T) {
	b.lines, b.count, b.buf = l, count, buf
	for k := range count {
		b.at[k] = c.at
		l.next(c)
	}
}

// row returns line k: the memory itself if its elements are neighbours,
// otherwise its place in the buffer.
func (b *bundle[T]) row(k int) []T {
	n := b.lines.n
	if b.lines.step == 1 {
		return b.lines.data[b.at[k]:][:n:n]
	}
	return b.buf[k*(n+bundleGap):][:n:n]
}

// load gathers the lines, if row needs that.
func (b *bundle[T]) load() {
	l := b.lines
	if l.step == 1 {
		return
	}
	pitch := l.n + bundleGap
	for j := range l.n {
		for k, at := range b.at[:b.count] {
			b.buf[k*pitch+j] = l.data[at+j*l.step]
		}
	}
}

// store completes a write to the rows.
func (b *bundle[T]) store() {
	l := b.lines
	if l.step == 1 {
		return
	}
	pitch := l.n + bundleGap
	for j := range l.n {
		for k, at := range b.at[:b.count] {
			l.data[at+j*l.step] = b.buf[k*pitch+j]
		}
	}
}
