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
	python string
	script string
	blas   string // blis, openblas, or as installed
	dir    string // of the library, to be found before others; empty for what is installed
}

// findPeers returns PyTorch over each BLAS that can be chosen. Those libraries
// use the thread pool that PyTorch itself has; with another kind, two pools fight
// for the processors, and PyTorch is two to three times slower.
func findPeers(ctx context.Context, python, source string) ([]side, error) {
	probe := exec.CommandContext(ctx, python, "-c", "import torch")
	if output, err := probe.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s has no torch: %w\n%s", python, err, output)
	}
	script := filepath.Join(source, "torch", "run.py")
	var peers []side
	for _, blas := range []string{"blis", "openblas"} {
		found, _ := filepath.Glob("/usr/lib/*/" + blas + "-openmp/libblas.so.3") // a fixed pattern, which has no errors
		if len(found) > 0 {
			peers = append(peers, &peer{python, script, blas, filepath.Dir(found[0])})
		}
	}
	if len(peers) == 0 {
		peers = append(peers, &peer{python, script, "as installed", ""})
	}
	return peers, nil
}

func (p *peer) name() string { return "torch, " + p.blas }

func (p *peer) command(ctx context.Context, c cases.Case, threads int, seconds float64) *exec.Cmd {
	cmd := exec.CommandContext(ctx, p.python, p.script, c.Name, fmt.Sprint(threads), fmt.Sprint(seconds))
	cmd.Env = p.environment(os.Environ(), c, threads)
	return cmd
}

// environment chooses the BLAS, leaves the kernels to it, and keeps freed memory
// for single operations: those would otherwise measure page faults. Whole models
// run, as they commonly do, with the C library's defaults.
func (p *peer) environment(base []string, c cases.Case, threads int) []string {
	env := without(base, "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "LD_LIBRARY_PATH", "LD_PRELOAD")
	if p.dir != "" {
		env = append(env, "LD_LIBRARY_PATH="+p.dir)
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
