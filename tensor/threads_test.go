package tensor

import (
	"bytes"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/stria-ml/stria/internal/parallel"
)

// threadRun is one call of a destination form at a size that makes many chunks.
type threadRun struct {
	f    any // the function, to see that all are there
	call func()
	outs []*Tensor
}

// threadInputs are operands (R, C) in one layout, and what goes with them.
type threadInputs struct {
	dtype         DType
	x, y, z       *Tensor // z is positive
	flags         *Tensor
	index, places *Tensor // (R, C) and (R), Int64 in [0, R)
	stream        *Stream
}

const (
	threadRows    = 517
	threadColumns = 131
)

func newThreadInputs(dtype DType, transposed bool) *threadInputs {
	in := &threadInputs{dtype: dtype, stream: NewStream(3)}
	lay := func(t *Tensor) *Tensor {
		if transposed {
			return t.T().Clone().T()
		}
		return t
	}
	in.x, in.y = lay(RandN(dtype, in.stream, threadRows, threadColumns)), lay(RandN(dtype, in.stream, threadRows, threadColumns))
	in.z = lay(in.y.Square().AddScalar(0.5))
	in.flags = lay(in.x.Gt(in.y))
	in.index = lay(RandInt(in.stream, threadRows, threadRows, threadColumns))
	in.places = RandInt(in.stream, threadRows, threadRows)
	return in
}

// random returns numbers of the standard normal distribution.
func (in *threadInputs) random(shape ...int) *Tensor { return RandN(in.dtype, in.stream, shape...) }

// like returns a destination with x's layout.
func (in *threadInputs) like(dtype DType) *Tensor {
	if in.x.contiguous {
		return Zeros(dtype, threadRows, threadColumns)
	}
	return Zeros(dtype, threadColumns, threadRows).T()
}

// elementwiseRuns covers what goes position by position.
func (in *threadInputs) elementwiseRuns() (runs []threadRun) {
	x, y, z := in.x, in.y, in.z
	for _, f := range []func(dst, x *Tensor){AbsInto, CosInto, ExpInto, GELUInto, GELUTanhInto, LogInto, NegInto, ReLUInto,
		ReciprocalInto, RsqrtInto, SiLUInto, SigmoidInto, SignInto, SinInto, SqrtInto, SquareInto, TanhInto} {
		dst := in.like(in.dtype)
		runs = append(runs, threadRun{f, func() { f(dst, z) }, []*Tensor{dst}})
	}
	for _, f := range []func(dst, a, b *Tensor){AddInto, DivInto, GELUGradInto, GELUTanhGradInto, MaximumInto, MinimumInto,
		MulInto, PowInto, ReLUGradInto, SiLUGradInto, SigmoidGradInto, SubInto, SwiGLUInto, TanhGradInto} {
		dst := in.like(in.dtype)
		runs = append(runs, threadRun{f, func() { f(dst, z, x) }, []*Tensor{dst}})
	}
	for _, f := range []func(dst, a, b *Tensor){EqInto, GeInto, GtInto, LeInto, LtInto, NeInto} {
		dst := in.like(Bool)
		runs = append(runs, threadRun{f, func() { f(dst, x, y) }, []*Tensor{dst}})
	}
	for _, f := range []func(dst, a, b *Tensor){AndInto, OrInto, XorInto} {
		dst := in.like(Bool)
		runs = append(runs, threadRun{f, func() { f(dst, in.flags, in.flags) }, []*Tensor{dst}})
	}
	for _, f := range []func(dst, x *Tensor, v float64){AddScalarInto, MulScalarInto, PowScalarInto} {
		dst := in.like(in.dtype)
		runs = append(runs, threadRun{f, func() { f(dst, z, 1.5) }, []*Tensor{dst}})
	}
	dst, dst2, flags := in.like(in.dtype), in.like(in.dtype), in.like(Bool)
	return append(runs,
		threadRun{AddScaledInto, func() { AddScaledInto(dst, x, y, 0.3) }, []*Tensor{dst}},
		threadRun{ClampInto, func() { ClampInto(dst, x, -0.5, 0.5) }, []*Tensor{dst}},
		threadRun{DropoutInto, func() { DropoutInto(dst, x, 0.3, 5, 6) }, []*Tensor{dst}},
		threadRun{IsNaNInto, func() { IsNaNInto(flags, x) }, []*Tensor{flags}},
		threadRun{NotInto, func() { NotInto(flags, in.flags) }, []*Tensor{flags}},
		threadRun{MaskedFillInto, func() { MaskedFillInto(dst, x, in.flags, 2) }, []*Tensor{dst}},
		threadRun{WhereInto, func() { WhereInto(dst, in.flags, x, y) }, []*Tensor{dst}},
		threadRun{TrilInto, func() { TrilInto(dst, x, 1) }, []*Tensor{dst}},
		threadRun{TriuInto, func() { TriuInto(dst, x, 1) }, []*Tensor{dst}},
		threadRun{CatInto, func() { CatInto(dst, 0, x.Narrow(0, 0, 100), x.Narrow(0, 100, threadRows-100)) }, []*Tensor{dst}},
		threadRun{SwiGLUGradInto, func() { SwiGLUGradInto(dst, dst2, x, y, z, false, false) }, []*Tensor{dst, dst2}},
	)
}

// reducingRuns covers what combines elements along dims.
func (in *threadInputs) reducingRuns() (runs []threadRun) {
	x, y := in.x, in.y
	for _, dims := range [][]int{{0}, {1}, {0, 1}} {
		for _, f := range []func(dst, x *Tensor, dims ...int){LogSumExpInto, MaxInto, MeanInto, MinInto, ProdInto, SumInto, SumSquareInto, VarInto} {
			dst := Zeros(in.dtype, AppendReducedShape(nil, x, true, dims...)...)
			runs = append(runs, threadRun{f, func() { f(dst, x, dims...) }, []*Tensor{dst}})
		}
		for _, f := range []func(dst, x *Tensor, dims ...int){AllInto, AnyInto} {
			dst := Zeros(Bool, AppendReducedShape(nil, x, true, dims...)...)
			runs = append(runs, threadRun{f, func() { f(dst, in.flags, dims...) }, []*Tensor{dst}})
		}
		for _, f := range []func(dst, src *Tensor){SumToInto, SumToAccumulateInto} {
			dst := Zeros(in.dtype, AppendReducedShape(nil, x, true, dims...)...)
			runs = append(runs, threadRun{f, func() { dst.Zero(); f(dst, x) }, []*Tensor{dst}})
		}
	}
	for dim := range 2 {
		for _, f := range []func(dst, x *Tensor, dim int){CumSumInto, CumSumReverseInto, LogSoftmaxInto, SoftmaxInto} {
			dst := in.like(in.dtype)
			runs = append(runs, threadRun{f, func() { f(dst, x, dim) }, []*Tensor{dst}})
		}
		for _, f := range []func(dst, x *Tensor, dim int){ArgMaxInto, ArgMinInto} {
			dst := Zeros(Int64, AppendReducedShape(nil, x, false, dim)...)
			runs = append(runs, threadRun{f, func() { f(dst, x, dim) }, []*Tensor{dst}})
		}
		for _, f := range []func(dx, y, dy *Tensor, dim int){LogSoftmaxGradInto, SoftmaxGradInto} {
			dst := in.like(in.dtype)
			runs = append(runs, threadRun{f, func() { f(dst, x, y, dim) }, []*Tensor{dst}})
		}
	}
	return runs
}

// indexingRuns covers what an index directs, and products.
func (in *threadInputs) indexingRuns() []threadRun {
	x, y := in.x, in.y
	dst, zero := in.like(in.dtype), in.like(in.dtype)
	stack := Zeros(in.dtype, 2, threadRows, threadColumns)
	square, summed := Zeros(in.dtype, threadRows, threadRows), Zeros(in.dtype, threadRows, threadRows)
	narrow, bias := Zeros(in.dtype, threadColumns, threadColumns), Full(in.dtype, 3, threadRows)
	weights, second := in.random(threadColumns, threadColumns), in.like(in.dtype)
	return []threadRun{
		{EmbeddingInto, func() { EmbeddingInto(dst, x, in.places) }, []*Tensor{dst}},
		{EmbeddingGradInto, func() { EmbeddingGradInto(dst.Zero(), in.places, x) }, []*Tensor{dst}},
		{GatherInto, func() { GatherInto(dst, x, 0, in.index) }, []*Tensor{dst}},
		{IndexAddInto, func() { IndexAddInto(dst, zero, 0, in.places, x) }, []*Tensor{dst}},
		{IndexSelectInto, func() { IndexSelectInto(dst, x, 0, in.places) }, []*Tensor{dst}},
		{ScatterAddInto, func() { ScatterAddInto(dst, zero, 0, in.index, x) }, []*Tensor{dst}},
		{StackInto, func() { StackInto(stack, 0, x, y) }, []*Tensor{stack}},
		{MatMulInto, func() { MatMulInto(square, x, y.T()) }, []*Tensor{square}},
		{LinearInto, func() { LinearInto(square, x, y) }, []*Tensor{square}},
		{LinearBiasInto, func() { LinearBiasInto(square, x, y, bias) }, []*Tensor{square}},
		{ActivationInto, func() { ActivationInto(dst, x, ActivationSiLU) }, []*Tensor{dst}},
		{LinearActivationInto, func() { LinearActivationInto(square, summed, x, y, bias, ActivationGELU) }, []*Tensor{square, summed}},
		{LinearActivationGradInto, func() {
			LinearActivationGradInto(dst, second, x, weights, y, ActivationGELU)
		}, []*Tensor{dst, second}},
		{LinearWeightGradInto, func() { LinearWeightGradInto(narrow, x, y, false) }, []*Tensor{narrow}},
		{MatMulAccumulateInto, func() { MatMulAccumulateInto(summed.Zero(), x, y.T(), 0.5) }, []*Tensor{summed}},
	}
}

// fusedRuns covers whole layers and the optimizer's step.
func (in *threadInputs) fusedRuns() []threadRun {
	x, y := in.x, in.y
	rows := func() *Tensor { return Ones(in.dtype, threadRows) }
	weight := func() *Tensor { return in.random(threadColumns) }
	dst, mean, rstd, w, b, dw, db := in.like(in.dtype), rows(), rows(), weight(), weight(), weight(), weight()
	loss, lse, scale := rows(), rows(), Scalar(1.5).To(in.dtype)
	classes := RandInt(in.stream, threadColumns, threadRows)
	smooth := CrossEntropyParams{Ignore: 3, Smoothing: 0.1}
	turned, from, cos, sin := Zeros(in.dtype, 9, 61, 66), in.random(9, 61, 66), in.random(61, 33), in.random(61, 33)
	q, k, v := in.random(2, 3, 2, 75, 16), in.random(2, 3, 90, 16), in.random(2, 3, 90, 16)
	out, stats, dq, dk, dv := ZerosLike(q), Zeros(in.dtype, 2, 3, 2, 75), ZerosLike(q), ZerosLike(k), ZerosLike(v)
	mask := AttentionParams{Scale: 0.25, Causal: true, QueryOffset: 15}
	p, m1, m2 := in.random(70_001), Zeros(in.dtype, 70_001), Zeros(in.dtype, 70_001)
	g, h := in.random(70_001), in.like(in.dtype)
	return []threadRun{
		{RMSNormInto, func() { RMSNormInto(dst, rstd, x, w, 1e-5) }, []*Tensor{dst, rstd}},
		{AddRMSNormInto, func() { AddRMSNormInto(h, dst, rstd, x, y, w, 1e-5) }, []*Tensor{h, dst, rstd}},
		{AddLayerNormInto, func() { AddLayerNormInto(h, dst, mean, rstd, x, y, w, b, 1e-5) }, []*Tensor{h, dst, mean, rstd}},
		{RMSNormGradInto, func() { RMSNormGradInto(dst, dw, x, w, rstd, y, NormAccumulate{}) }, []*Tensor{dst, dw}},
		{LayerNormInto, func() { LayerNormInto(dst, mean, rstd, x, w, b, 1e-5) }, []*Tensor{dst, mean, rstd}},
		{LayerNormGradInto, func() { LayerNormGradInto(dst, dw, db, x, w, mean, rstd, y, NormAccumulate{}) }, []*Tensor{dst, dw, db}},
		{CrossEntropyInto, func() { CrossEntropyInto(loss, lse, x, classes, smooth) }, []*Tensor{loss, lse}},
		{CrossEntropyGradInto, func() { CrossEntropyGradInto(dst, x, classes, lse, scale, smooth) }, []*Tensor{dst}},
		{RotaryInto, func() { RotaryInto(turned, from, cos, sin, RotaryHalf, false) }, []*Tensor{turned}},
		{AttentionInto, func() { AttentionInto(out, stats, q, k, v, mask) }, []*Tensor{out, stats}},
		{AttentionGradInto, func() {
			AttentionGradInto(dq, dk, dv, q, k, v, out, stats, out, mask, AttentionAccumulate{})
		}, []*Tensor{dq, dk, dv}},
		{AdamWInto, func() {
			p.Fill(0.5)
			AdamWInto(p, m1.Zero(), m2.Zero(), g, AdamWParams{LR: 0.1, Beta1: 0.9, Beta2: 0.99, Eps: 1e-8, GradScale: 1, Step: 1})
		}, []*Tensor{p, m1, m2}},
	}
}

func nameOf(f any) string {
	name := runtime.FuncForPC(reflect.ValueOf(f).Pointer()).Name()
	return name[strings.LastIndexByte(name, '.')+1:]
}

// TestSameBitsAtAnyThreadCount runs every destination form with 1, 2 and 8
// threads.
func TestSameBitsAtAnyThreadCount(t *testing.T) {
	defer parallel.SetThreads(0)
	ran := map[string]bool{}
	for _, dtype := range []DType{Float32, Float64} {
		for _, transposed := range []bool{false, true} {
			if raceEnabled && (dtype == Float64 || transposed) {
				continue // too slow
			}
			in := newThreadInputs(dtype, transposed)
			runs := append(in.elementwiseRuns(), in.reducingRuns()...)
			runs = append(append(runs, in.indexingRuns()...), in.fusedRuns()...)
			for _, run := range runs {
				ran[nameOf(run.f)] = true
				checkThreads(t, run, dtype, transposed)
			}
		}
	}
	for _, f := range functions {
		if name := nameOf(f); strings.HasSuffix(name, "Into") && !ran[name] {
			t.Errorf("%s was not run", name)
		}
	}
}

func checkThreads(t *testing.T, run threadRun, dtype DType, transposed bool) {
	want := make([][]byte, len(run.outs))
	for _, threads := range []int{1, 2, 8} {
		parallel.SetThreads(threads)
		run.call()
		for i, out := range run.outs {
			got := Bytes(out)
			if threads == 1 {
				want[i] = got
			} else if !bytes.Equal(got, want[i]) {
				t.Errorf("%s of %s, transposed %v: output %d differs between 1 and %d threads",
					nameOf(run.f), dtype, transposed, i, threads)
			}
		}
	}
}
