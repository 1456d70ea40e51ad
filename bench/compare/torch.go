package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/stria-ml/stria/bench/cases"
)

// howToGet says where PyTorch comes from.
const howToGet = `On Debian and Ubuntu: apt-get install python3-torch libblis4-openmp libopenblas0-openmp
Another Python that has it: --python PROGRAM
`

// peer is PyTorch over one BLAS library.
type peer struct {
	python  string
	script  string
	dir     string // of the library, to be found before others; empty for what is installed
	setting string // a variable that chooses the library's kernels, or empty
}

// library is a BLAS that PyTorch can run over.
type library struct {
	folders  []string // beneath /usr/lib/*/; the first that exists counts
	settings []string
}

// libraries that use the thread pool that PyTorch itself has come first: with
// another kind, two pools fight for the processors, and PyTorch is two to three
// times slower. Left alone, a library takes plain C or narrow kernels on a processor
// newer than itself; hence the settings (of BLIS, numbers as in version 0.9:
// Skylake-X, Haswell, Zen 3), of which the fastest is taken.
var libraries = []library{
	{[]string{"blis-openmp"}, []string{"", "BLIS_ARCH_TYPE=0", "BLIS_ARCH_TYPE=3", "BLIS_ARCH_TYPE=6"}},
	{[]string{"openblas-openmp", "openblas-pthread"}, []string{"", "OPENBLAS_CORETYPE=SkylakeX", "OPENBLAS_CORETYPE=Haswell", "OPENBLAS_CORETYPE=Zen"}},
}

// findPeers returns PyTorch over each BLAS that is there, with its best kernels.
func findPeers(ctx context.Context, python, source string) ([]side, error) {
	probe := exec.CommandContext(ctx, python, "-c", "import torch")
	if output, err := probe.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s has no torch: %w\n%s", python, err, output)
	}
	base := peer{python: python, script: filepath.Join(source, "torch", "run.py")}
	var peers []side
	for _, l := range libraries {
		base.dir = l.dir()
		if base.dir == "" {
			continue
		}
		best, err := base.fastest(ctx, l.settings)
		if err != nil {
			return nil, err
		}
		peers = append(peers, best)
	}
	if len(peers) == 0 {
		peers = append(peers, &base)
	}
	return peers, nil
}

func (l library) dir() string {
	for _, folder := range l.folders {
		found, _ := filepath.Glob("/usr/lib/*/" + folder + "/libblas.so.3") // a fixed pattern, which has no errors
		if len(found) > 0 {
			return filepath.Dir(found[0])
		}
	}
	return ""
}

// fastest returns the peer with the setting that multiplies matrices in the least
// time. Those that the processor cannot run end in an error, and do not count.
func (p peer) fastest(ctx context.Context, settings []string) (*peer, error) {
	const rounds, seconds = 2, 0.2
	product := cases.Case{Name: "MatMul/NN/1024x1024x1024"}
	var best *peer
	var least float64
	var failed error
	for i := range rounds * len(settings) {
		candidate := p
		candidate.setting = settings[i%len(settings)]
		taken, err := measure(ctx, &candidate, product, 1, seconds)
		if err != nil {
			failed = err
			continue
		}
		if best == nil || taken.Seconds < least {
			best, least = &candidate, taken.Seconds
		}
	}
	if best == nil {
		return nil, failed
	}
	return best, nil
}

func (p *peer) name() string {
	name := "torch"
	if p.dir != "" {
		name += ", " + filepath.Base(p.dir)
	}
	if p.setting != "" {
		name += ", " + p.setting
	}
	return name
}

func (p *peer) command(ctx context.Context, c cases.Case, threads int, seconds float64) *exec.Cmd {
	cmd := exec.CommandContext(ctx, p.python, p.script, c.Name, fmt.Sprint(threads), fmt.Sprint(seconds))
	cmd.Env = p.environment(os.Environ(), c, threads)
	return cmd
}

// environment chooses the BLAS and its kernels, and keeps freed memory for single
// operations: those would otherwise measure page faults. Whole models run, as they
// commonly do, with the C library's defaults.
func (p *peer) environment(base []string, c cases.Case, threads int) []string {
	env := without(base, "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "BLIS_ARCH_TYPE", "LD_LIBRARY_PATH", "LD_PRELOAD")
	if p.dir != "" {
		env = append(env, "LD_LIBRARY_PATH="+p.dir)
	}
	if p.setting != "" {
		env = append(env, p.setting)
	}
	for _, name := range []string{"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS"} {
		env = append(env, fmt.Sprintf("%s=%d", name, threads))
	}
	if !c.Model {
		env = append(env, "MALLOC_MMAP_MAX_=0", "MALLOC_TRIM_THRESHOLD_=16000000000", "MALLOC_TOP_PAD_=67108864", "MALLOC_ARENA_MAX=1")
	}
	return append(env, "PYTHONDONTWRITEBYTECODE=1")
}

// parse reads the last line, which is JSON.
func (p *peer) parse(output []byte, _ cases.Case) (sample, error) {
	lines := strings.Split(strings.TrimSpace(string(output)), "\n")
	var result struct {
		Seconds float64  `json:"seconds"`
		PeakMiB float64  `json:"peak_mib"`
		BLAS    []string `json:"blas"`
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &result); err != nil {
		return sample{}, fmt.Errorf("result %q: %w", lines[len(lines)-1], err)
	}
	switch {
	case !(result.Seconds > 0):
		return sample{}, fmt.Errorf("result %q: no seconds", lines[len(lines)-1])
	case p.dir != "" && !strings.Contains(strings.Join(result.BLAS, " "), filepath.Base(p.dir)):
		return sample{}, fmt.Errorf("PyTorch runs over %q, not over the library in %s", result.BLAS, p.dir)
	}
	return sample{Seconds: result.Seconds, PeakMiB: result.PeakMiB}, nil
}
