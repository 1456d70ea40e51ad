package bench

import (
	"flag"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stria-ml/stria/bench/cases"
	"github.com/stria-ml/stria/internal/cpu/limits"
	"github.com/stria-ml/stria/internal/peakmem"
)

// limitsToo makes each benchmark report what the machine can do, measured in the
// same process directly after it.
var limitsToo = flag.Bool("limits", false, "report the machine's limits beside each benchmark")

func BenchmarkMatMul(b *testing.B)         { run(b, "MatMul") }
func BenchmarkBatchedMatMul(b *testing.B)  { run(b, "BatchedMatMul") }
func BenchmarkExp(b *testing.B)            { run(b, "Exp") }
func BenchmarkTanh(b *testing.B)           { run(b, "Tanh") }
func BenchmarkSiLU(b *testing.B)           { run(b, "SiLU") }
func BenchmarkGELU(b *testing.B)           { run(b, "GELU") }
func BenchmarkGELUTanh(b *testing.B)       { run(b, "GELUTanh") }
func BenchmarkRMSNorm(b *testing.B)        { run(b, "RMSNorm") }
func BenchmarkLayerNorm(b *testing.B)      { run(b, "LayerNorm") }
func BenchmarkSoftmax(b *testing.B)        { run(b, "Softmax") }
func BenchmarkCrossEntropy(b *testing.B)   { run(b, "CrossEntropy") }
func BenchmarkTransposedCopy(b *testing.B) { run(b, "TransposedCopy") }
func BenchmarkPermuteHeads(b *testing.B)   { run(b, "PermuteHeads") }
func BenchmarkView(b *testing.B)           { run(b, "View") }
func BenchmarkAdd(b *testing.B)            { run(b, "Add") }
func BenchmarkAdamW(b *testing.B)          { run(b, "AdamW") }
func BenchmarkAttention(b *testing.B)      { run(b, "Attention") }
func BenchmarkStep(b *testing.B)           { run(b, "Step") }
func BenchmarkGenerate(b *testing.B)       { run(b, "Generate") }

// BenchmarkLimits is the machine itself: multiply-adds in registers, and memory
// copied.
func BenchmarkLimits(b *testing.B) {
	for b.Loop() {
		reportLimits(b)
	}
	b.ReportMetric(0, "ns/op") // the time of the probes says nothing
}

// run runs the cases of a group.
func run(b *testing.B, group string) {
	for _, c := range cases.All() {
		if c.Group() != group {
			continue
		}
		b.Run(strings.TrimPrefix(c.Name, group+"/"), func(b *testing.B) { measure(b, c) })
	}
}

func measure(b *testing.B, c cases.Case) {
	step, done := c.Prepare()
	defer done()
	b.ReportAllocs()
	b.SetBytes(int64(c.Bytes))
	for b.Loop() {
		step()
	}
	perSecond := float64(b.N) / b.Elapsed().Seconds()
	if c.FLOPs > 0 {
		b.ReportMetric(c.FLOPs*perSecond/1e9, "GFLOP/s")
	}
	if c.Tokens > 0 {
		b.ReportMetric(float64(c.Tokens)*perSecond, "tokens/s")
	}
	if c.Model {
		if c.FLOPs > 0 {
			b.ReportMetric(c.FLOPs/1e9, "GFLOP/op")
		}
		if peak := peakmem.Bytes(); peak > 0 {
			b.ReportMetric(float64(peak)/(1<<20), "peak-MiB")
		}
	}
	if *limitsToo {
		reportLimits(b)
	}
}

func reportLimits(b *testing.B) {
	if rate := limits.FMA(); rate > 0 {
		b.ReportMetric(rate/1e9, "FMA-GFLOP/s")
	}
	b.ReportMetric(limits.Copy()/1e9, "copy-GB/s")
}

// TestEveryGroupHasABenchmark compares this file with the cases.
func TestEveryGroupHasABenchmark(t *testing.T) {
	source, err := os.ReadFile("bench_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var benchmarks, groups []string
	for _, match := range regexp.MustCompile(`func Benchmark(\w+)\(b \*testing.B\) +\{ run\(b, "(\w+)"\)`).FindAllSubmatch(source, -1) {
		if string(match[1]) != string(match[2]) {
			t.Errorf("Benchmark%s runs %s", match[1], match[2])
		}
		benchmarks = append(benchmarks, string(match[1]))
	}
	for _, c := range cases.All() {
		groups = append(groups, c.Group())
	}
	slices.Sort(groups)
	slices.Sort(benchmarks)
	if groups = slices.Compact(groups); !slices.Equal(groups, benchmarks) {
		t.Errorf("benchmarks of %v, groups of cases %v", benchmarks, groups)
	}
}

// TestPyTorchHasEveryCase looks for the groups, and for the models by name, in
// PyTorch's side, which makes the work from the names.
func TestPyTorchHasEveryCase(t *testing.T) {
	var source []byte
	for _, name := range []string{"torch/cases.py", "torch/models.py"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		source = append(source, text...)
	}
	for _, c := range cases.All() {
		wanted := []string{c.Group()}
		if c.Model {
			wanted = append(wanted, strings.TrimPrefix(c.Name, c.Group()+"/"))
		}
		for _, text := range wanted {
			if !strings.Contains(string(source), strconv.Quote(text)) {
				t.Errorf("no %q in bench/torch, for %s", text, c.Name)
			}
		}
	}
}
