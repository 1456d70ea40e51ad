package main

import (
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stria-ml/stria/bench/cases"
)

func TestOptions(t *testing.T) {
	o, err := parseOptions([]string{"--cases", "^MatMul/", "--rounds", "3", "--threads", "2,1", "--out", "x.json"}, io.Discard)
	if err != nil || o.rounds != 3 || !slices.Equal(o.threads, []int{2, 1}) || o.out != "x.json" {
		t.Errorf("%+v, %v", o, err)
	}
	if chosen := match(o.cases); len(chosen) == 0 || chosen[0].Group() != "MatMul" || chosen[len(chosen)-1].Group() != "MatMul" {
		t.Errorf("%d cases match %s", len(chosen), o.cases)
	}
	if _, err := parseOptions([]string{"-h"}, io.Discard); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("-h: %v", err)
	}
	for _, row := range [][2]string{
		{"--rounds=0", "--rounds"}, {"--threads=1,x", "--threads"}, {"--threads=", "--threads"}, {"--threads=65", "--threads"},
		{"--seconds=0", "--seconds"}, {"--seconds=NaN", "--seconds"}, {"--cases=(", "--cases"}, {"more", "more"},
	} {
		if _, err := parseOptions([]string{row[0]}, io.Discard); err == nil || !strings.Contains(err.Error(), row[1]) {
			t.Errorf("%s: error %v", row[0], err)
		}
	}
}

const benchOutput = `goos: linux
cpu: Some CPU
BenchmarkExp/2048x704
BenchmarkExp/2048x7041-2   	 1	 9 ns/op
BenchmarkExp/2048x704-2    	      14	   1449053 ns/op	7959.91 MB/s	        79.50 FMA-GFLOP/s	        41.25 copy-GB/s	       0 B/op	       0 allocs/op
PASS
`

func TestParseOurs(t *testing.T) {
	c := cases.Case{Name: "Exp/2048x704"}
	got, err := new(ours).parse([]byte(benchOutput), c)
	if want := (sample{Seconds: 1449053e-9, FMARate: 79.5e9, CopyRate: 41.25e9}); err != nil || !near(got.Seconds, want.Seconds) ||
		got.FMARate != want.FMARate || got.CopyRate != want.CopyRate {
		t.Errorf("%+v, %v", got, err)
	}
	got, err = new(ours).parse([]byte("BenchmarkExp/2048x704 \t 2\t 2e9 ns/op\t 310.5 peak-MiB\n"), c) // one thread has no suffix
	if err != nil || got.Seconds != 2 || got.PeakMiB != 310.5 {
		t.Errorf("%+v, %v", got, err)
	}
	for _, output := range []string{"PASS\n", "BenchmarkExp/2048x704-2 1 x ns/op", "BenchmarkExp/2048x704-2 1 5 MB/s", "BenchmarkExp/2048x704-y 1 5 ns/op"} {
		if got, err := new(ours).parse([]byte(output), c); err == nil {
			t.Errorf("%q is read as %+v", output, got)
		}
	}
}

func near(a, b float64) bool { return a > b*(1-1e-12) && a < b*(1+1e-12) }

func TestBenchPatternMatchesOneCase(t *testing.T) {
	if got, want := benchPattern("MatMul/NN/64x64x64"), "^BenchmarkMatMul$/^NN$/^64x64x64$"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestParseTorch(t *testing.T) {
	p := &peer{dir: "/usr/lib/x/blis-openmp"}
	got, err := p.parse([]byte("a warning\n{\"seconds\": 0.25, \"peak_mib\": 236.5, \"blas\": [\"/usr/lib/x/blis-openmp/libblas.so.3\"]}\n"), cases.Case{})
	if err != nil || got.Seconds != 0.25 || got.PeakMiB != 236.5 {
		t.Errorf("%+v, %v", got, err)
	}
	for output, want := range map[string]string{
		"": "result", "Traceback": "Traceback", `{"seconds": 0}`: "no seconds",
		`{"seconds": 1, "blas": ["/usr/lib/x/openblas-pthread/libblas.so.3"]}`: "openblas-pthread",
	} {
		if _, err := p.parse([]byte(output), cases.Case{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", output, err, want)
		}
	}
}

func TestTorchEnvironment(t *testing.T) {
	p := &peer{dir: "/blis", setting: "BLIS_ARCH_TYPE=0"}
	if got, want := p.name(), "torch, blis, BLIS_ARCH_TYPE=0"; got != want {
		t.Errorf("named %s, want %s", got, want)
	}
	base := []string{"HOME=/x", "OPENBLAS_CORETYPE=Haswell", "LD_LIBRARY_PATH=/y", "OPENBLAS_CORETYPE_NOT=1"}
	operation := p.environment(base, cases.Case{}, 2)
	for _, want := range []string{"HOME=/x", "OPENBLAS_CORETYPE_NOT=1", "LD_LIBRARY_PATH=/blis", "OMP_NUM_THREADS=2", "MALLOC_MMAP_MAX_=0", "BLIS_ARCH_TYPE=0"} {
		if !slices.Contains(operation, want) {
			t.Errorf("no %s in %q", want, operation)
		}
	}
	for _, variable := range p.environment(base, cases.Case{Model: true}, 2) {
		if strings.HasPrefix(variable, "OPENBLAS_CORETYPE=") || strings.HasPrefix(variable, "MALLOC_") || variable == "LD_LIBRARY_PATH=/y" {
			t.Errorf("%s for a model", variable)
		}
	}
}

func TestMissingTorch(t *testing.T) {
	nothing := filepath.Join(t.TempDir(), "python3")
	if peers, err := findPeers(t.Context(), nothing, "."); err == nil || !strings.Contains(err.Error(), nothing) || peers != nil {
		t.Errorf("%v, %v", peers, err)
	}
	for _, name := range []string{"python3-torch", "libblis4-openmp", "libopenblas0-openmp"} {
		if !strings.Contains(howToGet, name) {
			t.Errorf("%q does not name %s", howToGet, name)
		}
	}
}

func TestMedian(t *testing.T) {
	for _, row := range []struct {
		values []float64
		want   float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 9, 2}, 3}, {[]float64{5, 1, 4, 2, 3}, 3}} {
		before := slices.Clone(row.values)
		if got := median(row.values); got != row.want || !slices.Equal(before, row.values) {
			t.Errorf("median(%v) is %g, want %g", before, got, row.want)
		}
	}
}

func TestParseBusy(t *testing.T) {
	for stat, want := range map[string]time.Duration{
		"cpu  100 10 20 9999 777 3 2 5 0 0\ncpu0 1 1 1 1 1 1 1 1\n": 1400 * time.Millisecond,
		"cpu  1 2 3\n": 0, "intr 1 2 3 4 5 6 7 8 9\n": 0, "cpu a 1 1 1 1 1 1 1": 0, "": 0,
	} {
		if got := parseBusy(stat); got != want {
			t.Errorf("%q: %v, want %v", stat, got, want)
		}
	}
}

// measured are two results as rounds would make them: products of 1 GFLOP at a
// limit of 100 GFLOP/s, and a model without a known limit.
func measured() *report {
	r := &report{Rounds: 3}
	product := newResult(cases.Case{Name: "MatMul/NN/64x64x64", FLOPs: 1e9}, 2)
	for i, seconds := range []float64{0.030, 0.020, 0.010} {
		product.add(oursName, sample{Seconds: seconds, FMARate: 100e9, CopyRate: 1e9, OtherCPUs: float64(i) / 4})
		product.add("torch, blis", sample{Seconds: 2 * seconds, PeakMiB: 300})
		product.add("torch, openblas", sample{Seconds: 1.5 * seconds, PeakMiB: 200})
	}
	model := newResult(cases.Case{Name: "Step/x", FLOPs: 1e9, Model: true}, 1)
	model.add(oursName, sample{Seconds: 1.5, PeakMiB: 100})
	model.add("torch, blis", sample{Seconds: 3, PeakMiB: 250})
	r.Results = append(r.Results, product, model)
	return r
}

func TestResult(t *testing.T) {
	r := measured().Results[0]
	if r.Ours != 0.020 || !near(r.Torch, 0.030) || !near(r.Ratio, 1.5) || !near(r.Share, 0.5) {
		t.Errorf("ours %g, torch %g, ratio %g, share %g", r.Ours, r.Torch, r.Ratio, r.Share)
	}
}

const printed = `
2 threads, median of 3 rounds

| case               | ours  | torch | ratio | share of limit |
| ------------------ | ----- | ----- | ----- | -------------- |
| MatMul/NN/64x64x64 | 20 ms | 30 ms |  1.50 |           50 % |

1 thread, median of 3 rounds

| case   | ours  | torch | ratio | share of limit |
| ------ | ----- | ----- | ----- | -------------- |
| Step/x | 1.5 s |   3 s |  2.00 |              - |

peak resident memory

| case   | ours MiB | torch MiB | ratio |
| ------ | -------- | --------- | ----- |
| Step/x |      100 |       250 |  2.50 |

Other programs kept more than 0.1 processors busy during 2 of 11 measurements: repeat those on a quiet machine.
`

func TestPrint(t *testing.T) {
	var out strings.Builder
	measured().print(&out)
	if out.String() != printed {
		t.Errorf("printed:\n%s\nwant:\n%s", out.String(), printed)
	}
}

func TestDuration(t *testing.T) {
	for seconds, want := range map[float64]string{
		0: "-", 250e-9: "250 ns", 0.9996e-6: "1 µs", 42.44e-6: "42.4 µs", 0.51: "510 ms", 3.27: "3.27 s", 0.9996: "1 s",
	} {
		if got := duration(seconds); got != want {
			t.Errorf("%g: %s, want %s", seconds, got, want)
		}
	}
}

func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.json")
	if err := measured().write(path); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || !regexp.MustCompile(`"case": "MatMul/NN/64x64x64",\s+"threads": 2`).Match(text) {
		t.Errorf("%s, %v", text, err)
	}
}
