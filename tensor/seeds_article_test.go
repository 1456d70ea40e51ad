package tensor

import (
	"math"
	"testing"
)

// The numbers of the layout article: the six permutations, contiguity and the
// view rule, ViT patches and the whole of grouped-query attention, in views.

func TestArticleStrip(t *testing.T) {
	x := counting(40).Reshape(4, 2, 5)
	wantLayout(t, x, []int{4, 2, 5}, []int{10, 5, 1}, 0)
	for b := range 4 {
		for row := range 2 {
			for col := range 5 {
				if got := x.StorageOffset(b, row, col); got != b*10+row*5+col*1 || At[float32](x, b, row, col) != float32(got) {
					t.Errorf("x[%d, %d, %d] stands at %d", b, row, col, got)
				}
			}
		}
	}
}

func TestArticlePermutations(t *testing.T) {
	x := counting(40).Reshape(4, 2, 5)
	for _, row := range []struct {
		order, shape, strides []int
		contiguous            bool
		start                 []float32 // the first elements in logical order
	}{
		{[]int{0, 1, 2}, []int{4, 2, 5}, []int{10, 5, 1}, true, []float32{0, 1, 2, 3, 4, 5}},
		{[]int{0, 2, 1}, []int{4, 5, 2}, []int{10, 1, 5}, false, []float32{0, 5, 1, 6, 2, 7}},
		{[]int{1, 0, 2}, []int{2, 4, 5}, []int{5, 10, 1}, false, []float32{0, 1, 2, 3, 4, 10, 11}},
		{[]int{1, 2, 0}, []int{2, 5, 4}, []int{5, 1, 10}, false, []float32{0, 10, 20, 30, 1, 11}},
		{[]int{2, 0, 1}, []int{5, 4, 2}, []int{1, 10, 5}, false, []float32{0, 5, 10, 15, 20, 25, 30, 35, 1}},
		{[]int{2, 1, 0}, []int{5, 2, 4}, []int{1, 5, 10}, false, []float32{0, 10, 20, 30, 5, 15}},
	} {
		y := x.Permute(row.order...)
		wantLayout(t, y, row.shape, row.strides, 0)
		wantValues(t, FromSlice(Data[float32](y)[:len(row.start)]), row.start...)
		if y.IsContiguous() != row.contiguous || !y.SharesStorage(x) {
			t.Errorf("permute%v: contiguous %v, shares storage %v", row.order, y.IsContiguous(), y.SharesStorage(x))
		}
		if c := y.Contiguous(); (c == y) != row.contiguous || !c.IsContiguous() || c.SharesStorage(x) != row.contiguous {
			t.Errorf("permute%v: contiguous() copies %v", row.order, c != y)
		}
	}
	y := x.Permute(1, 0, 2)
	if !y.Same(x.Transpose(0, 1)) || !y.Same(x.Transpose(1, 0)) {
		t.Errorf("permute(1, 0, 2) is not transpose(0, 1) and transpose(1, 0)")
	}
}

// A view may split an axis, and may merge only where the strides allow it.
func TestArticleViewRule(t *testing.T) {
	x := counting(40).Reshape(4, 2, 5)
	y := x.Permute(1, 0, 2)
	wantLayout(t, y.View(2, 2, 2, 5), []int{2, 2, 2, 5}, []int{5, 20, 10, 1}, 0)
	wantLayout(t, x.View(8, 5), []int{8, 5}, []int{5, 1}, 0)
	e := wantKind(t, NotContiguous, func() { y.View(8, 5) })
	if e.Axis != 0 || e.Actual != 5 || e.Expected != 10*4 {
		t.Errorf("dim %d: %d != %d, want dim 0: 5 != 40", e.Axis, e.Actual, e.Expected)
	}
	merged := y.Reshape(8, 5)
	if merged.SharesStorage(x) {
		t.Errorf("reshape(8, 5) shares storage")
	}
	wantValues(t, merged.Select(1, 0).Clone(), 0, 10, 20, 30, 5, 15, 25, 35)
}

func TestArticlePatches(t *testing.T) {
	img := counting(3, 6, 6)
	cut := img.Reshape(3, 2, 3, 2, 3)
	moved := cut.Permute(1, 3, 0, 2, 4)
	patches := moved.Reshape(4, 27)
	wantLayout(t, cut, []int{3, 2, 3, 2, 3}, []int{36, 18, 6, 3, 1}, 0)
	wantLayout(t, moved, []int{2, 2, 3, 3, 3}, []int{18, 3, 36, 6, 1}, 0)
	wantLayout(t, patches, []int{4, 27}, []int{27, 1}, 0)
	if !cut.SharesStorage(img) || !moved.SharesStorage(img) || patches.SharesStorage(img) {
		t.Errorf("shares storage: cut %v, moved %v, patches %v; want true, true, false",
			cut.SharesStorage(img), moved.SharesStorage(img), patches.SharesStorage(img))
	}
	for patch := range 4 {
		for value := range 27 {
			channel, row, col := value/9, value%9/3, value%3
			want := At[float32](img, channel, 3*(patch/2)+row, 3*(patch%2)+col)
			if got := At[float32](patches, patch, value); got != want {
				t.Errorf("patches[%d, %d] = %v, want %v", patch, value, got, want)
			}
		}
	}
}

// The same with a batch and sides that differ: (B, C, H, W) = (2, 3, 4, 6),
// patches of 2.
func TestArticlePatchesOfBatch(t *testing.T) {
	img := counting(2, 3, 4, 6)
	moved := img.View(2, 3, 2, 2, 3, 2).Permute(0, 2, 4, 1, 3, 5)
	wantLayout(t, moved, []int{2, 2, 3, 3, 2, 2}, []int{72, 12, 2, 24, 6, 1}, 0)
	patches := moved.Reshape(2, 6, 12)
	if got, want := At[float32](patches, 1, 4, 7), At[float32](img, 1, 1, 3, 3); got != want {
		t.Errorf("batch 1, patch (1, 1), channel 1, row 1, col 1 is %v, want %v", got, want)
	}
}

// The article's sizes, with a batch of 2: 4 tokens, 2 key/value heads, 3 query
// heads for each, 5 features.
const (
	articleB, articleT, articleK, articleG, articleD = 2, 4, 2, 3, 5
	articleH                                         = articleK * articleG
)

func TestArticleGroupedQueryAttention(t *testing.T) {
	const B, T, K, G, d = articleB, articleT, articleK, articleG, articleD
	projected := counting(B, T, articleH*d) // (B, 4, 30)
	keys := counting(B, T, K*d)             // (B, 4, 10)

	splitQ := projected.Reshape(B, T, K, G, d)
	q := splitQ.Permute(0, 2, 3, 1, 4)
	splitK := keys.Reshape(B, T, K, 1, d)
	k := splitK.Permute(0, 2, 3, 1, 4)
	kT := k.Transpose(-2, -1)
	read := kT.Expand(B, K, G, d, T)

	out := counting(B, K, G, T, d) // as attention writes it, head after head
	tokens := out.Permute(0, 3, 1, 2, 4)
	merged := tokens.Reshape(B, T, articleH*d)

	for _, row := range []struct {
		name           string
		x, of          *Tensor
		shape, strides []int
		contiguous     bool
		shares         bool
	}{
		{"q", projected, projected, []int{B, 4, 30}, []int{120, 30, 1}, true, true},
		{"q split", splitQ, projected, []int{B, 4, 2, 3, 5}, []int{120, 30, 15, 5, 1}, true, true},
		{"q permuted", q, projected, []int{B, 2, 3, 4, 5}, []int{120, 15, 5, 30, 1}, false, true},
		{"k split", splitK, keys, []int{B, 4, 2, 1, 5}, []int{40, 10, 5, 5, 1}, true, true},
		{"k permuted", k, keys, []int{B, 2, 1, 4, 5}, []int{40, 5, 5, 10, 1}, false, true},
		{"k transposed", kT, keys, []int{B, 2, 1, 5, 4}, []int{40, 5, 5, 1, 10}, false, true},
		{"k read by each query head", read, keys, []int{B, 2, 3, 5, 4}, []int{40, 5, 0, 1, 10}, false, true},
		{"out permuted", tokens, out, []int{B, 4, 2, 3, 5}, []int{120, 5, 60, 20, 1}, false, true},
		{"out merged", merged, out, []int{B, 4, 30}, []int{120, 30, 1}, true, false},
	} {
		wantLayout(t, row.x, row.shape, row.strides, 0)
		if row.x.IsContiguous() != row.contiguous || row.x.SharesStorage(row.of) != row.shares {
			t.Errorf("%s: contiguous %v, shares storage %v", row.name, row.x.IsContiguous(), row.x.SharesStorage(row.of))
		}
	}

	e := wantKind(t, NotContiguous, func() { tokens.View(B, T, articleH*d) })
	if e.Axis != 3 || e.Actual != 20 || e.Expected != 5 {
		t.Errorf("merging refused at dim %d with %d != %d, want dim 3 with 20 != 5", e.Axis, e.Actual, e.Expected)
	}
	if back := q.Permute(0, 3, 1, 2, 4); !back.Same(splitQ) || !back.View(B, T, articleH*d).Same(projected) {
		t.Errorf("permute(0, 3, 1, 2, 4) does not undo permute(0, 2, 3, 1, 4)")
	}
}

// The merge moves runs of d_head numbers from head after head to token after
// token; without the permute the rows mix tokens.
func TestArticleMerge(t *testing.T) {
	const B, T, K, G, d = articleB, articleT, articleK, articleG, articleD
	out := counting(B, K, G, T, d)
	merged := Data[float32](out.Permute(0, 3, 1, 2, 4).Reshape(B, T, articleH*d))
	for b := range B {
		for token := range T {
			for head := range articleH {
				for i := range d {
					from := ((b*articleH+head)*T+token)*d + i
					to := ((b*T+token)*articleH+head)*d + i
					if merged[to] != float32(from) {
						t.Fatalf("position %d holds %v, want %d", to, merged[to], from)
					}
				}
			}
		}
	}
	wrong := out.Reshape(B, T, articleH*d)
	if !wrong.SharesStorage(out) {
		t.Errorf("the reshape without a permute copies")
	}
	row := Data[float32](wrong.Select(0, 0).Select(0, 0))
	for i, v := range row { // head 0 of all four tokens, then head 1 of tokens 0 and 1
		head, token := i/(T*d), i/d%T
		if want := At[float32](out, 0, 0, head, token, i%d); v != want {
			t.Errorf("element %d of the first row is %v, want %v: head %d of token %d", i, v, want, head, token)
		}
	}
	if last := len(row) - 1; last/(T*d) != 1 || last/d%T != 1 {
		t.Errorf("the first row ends with head %d of token %d, want head 1 of token 1", last/(T*d), last/d%T)
	}
}

// Which key/value head each query head reads, by the order of the two axes in
// the split.
func TestArticleHeadOrder(t *testing.T) {
	const T, K, G, d = articleT, articleK, articleG, articleD
	heads := counting(1, articleH, 1).Expand(T, articleH, d).Reshape(1, T, articleH*d) // each holds its own number
	for _, row := range []struct {
		name   string
		q      *Tensor // (1, K, G, T, d)
		groups [K][G]float32
	}{
		{"interleaved", heads.Reshape(1, T, K, G, d).Permute(0, 2, 3, 1, 4), [K][G]float32{{0, 1, 2}, {3, 4, 5}}},
		{"tiled", heads.Reshape(1, T, G, K, d).Permute(0, 3, 2, 1, 4), [K][G]float32{{0, 2, 4}, {1, 3, 5}}},
	} {
		for k, group := range row.groups {
			for g, want := range group {
				for _, got := range Data[float32](row.q.Select(1, k).Select(1, g)) {
					if got != want {
						t.Errorf("%s: key/value head %d, place %d holds query head %v, want %v", row.name, k, g, got, want)
					}
				}
			}
		}
	}
}

// The scores and the sum over values read the strided views as they are: each
// key/value head once for each of its query heads, and no copy of any.
func TestArticleScores(t *testing.T) {
	const B, T, K, G, d = articleB, articleT, articleK, articleG, articleD
	small := func(n int, shape ...int) *Tensor { // multiples of 1/8 below n/8, so that products are exact
		x := counting(shape...)
		Mutate(x, func(elements []float32) {
			for i := range elements {
				elements[i] = float32(i*5%n) / 8
			}
		})
		return x
	}
	q := small(7, B, T, articleH*d).View(B, T, K, G, d).Permute(0, 2, 3, 1, 4)
	k := small(11, B, T, K*d).View(B, T, K, 1, d).Permute(0, 2, 3, 1, 4)
	v := small(13, B, T, K*d).View(B, T, K, 1, d).Permute(0, 2, 3, 1, 4)

	stop := ForbidCopies()
	defer stop()
	scores := q.MatMul(k.MT())
	weights := scores.MulScalar(1 / math.Sqrt(d)).Softmax(-1)
	out := weights.MatMul(v)
	stop()
	wantLayout(t, scores, []int{B, 2, 3, 4, 4}, []int{96, 48, 16, 4, 1}, 0)
	wantLayout(t, out, []int{B, 2, 3, 4, 5}, []int{120, 60, 20, 5, 1}, 0)

	for b := range B {
		for head := range articleH {
			group, place := head/G, head%G // interleaved: heads 0 to 2 read key/value head 0
			for token := range T {
				var sum float64
				for key := range T {
					var dot float32
					for i := range d {
						dot += At[float32](q, b, group, place, token, i) * At[float32](k, b, group, 0, key, i)
					}
					if got := At[float32](scores, b, group, place, token, key); got != dot {
						t.Fatalf("batch %d, head %d: score of token %d and key %d is %v, want %v", b, head, token, key, got, dot)
					}
					sum += float64(At[float32](weights, b, group, place, token, key))
				}
				if math.Abs(sum-1) > 1e-6 {
					t.Errorf("batch %d, head %d: the weights of token %d add up to %v", b, head, token, sum)
				}
				for i := range d {
					var want float64
					for key := range T {
						want += float64(At[float32](weights, b, group, place, token, key)) * float64(At[float32](v, b, group, 0, key, i))
					}
					if got := float64(At[float32](out, b, group, place, token, i)); math.Abs(got-want) > 1e-6 {
						t.Errorf("batch %d, head %d: feature %d of token %d is %v, want %v", b, head, i, token, got, want)
					}
				}
			}
		}
	}
}
