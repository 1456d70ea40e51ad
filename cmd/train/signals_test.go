//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// process is a running program.
type process struct {
	*exec.Cmd
	lines  *bufio.Scanner // of stderr
	stdout bytes.Buffer
	seen   []string
}

func start(t *testing.T, dir string, args ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(program, args...)}
	p.Dir, p.Stdout = dir, &p.stdout
	stderr, err := p.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.lines = bufio.NewScanner(stderr)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Process.Kill() })
	return p
}

// awaitStep reads progress until the step was made.
func (p *process) awaitStep(t *testing.T, step int64) {
	t.Helper()
	for p.lines.Scan() {
		p.seen = append(p.seen, p.lines.Text())
		var m struct{ Step int64 }
		if json.Unmarshal(p.lines.Bytes(), &m) == nil && m.Step >= step {
			return
		}
	}
	t.Fatalf("the program ended before step %d:\n%s", step, strings.Join(p.seen, "\n"))
}

// end waits for the program and returns its exit code, or minus the signal that
// killed it.
func (p *process) end(t *testing.T) int {
	t.Helper()
	for p.lines.Scan() {
		p.seen = append(p.seen, p.lines.Text())
	}
	p.Wait()
	status := p.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return -int(status.Signal())
	}
	return status.ExitStatus()
}

// endless is a run that a signal has to end.
func endless(out string) []string {
	return with(tiny, "--steps=1000000", "--schedule=constant", "--save-every=5", "--json", "--out", out)
}

func TestSignalsSaveTheState(t *testing.T) {
	for signal, code := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		t.Run(signal.String(), func(t *testing.T) {
			dir := t.TempDir()
			p := start(t, dir, endless("run")...)
			p.awaitStep(t, 7)
			p.Process.Signal(signal)
			if got := p.end(t); got != code {
				t.Errorf("exit code %d, want %d\n%s", got, code, strings.Join(p.seen, "\n"))
			}
			if last := p.seen[len(p.seen)-1]; !strings.Contains(last, "the state is saved; go on with the arguments: gqa --resume run") {
				t.Errorf("the last line is %q", last)
			}
			if p.stdout.Len() > 0 {
				t.Errorf("stdout is %q", p.stdout.String())
			}
			metrics := strings.Split(strings.TrimSpace(readFile(t, dir, "run", "metrics.jsonl")), "\n")
			var last struct{ Step int64 }
			if err := json.Unmarshal([]byte(metrics[len(metrics)-1]), &last); err != nil {
				t.Fatal(err)
			}
			saved := filepath.Join(dir, "run", "checkpoints", fmt.Sprintf("step-%06d", last.Step), "trainer.json")
			if _, err := os.Stat(saved); err != nil {
				t.Errorf("the last step is not saved: %v", err)
			}
			done(t, dir, "gqa", "--resume=run", fmt.Sprintf("--steps=%d", last.Step+3))
		})
	}
}

// TestSecondSignalEndsAtOnce stops a program whose step takes long: the first
// signal waits for it, the second does not.
func TestSecondSignalEndsAtOnce(t *testing.T) {
	dir := t.TempDir()
	done(t, dir, with(tiny, "--out=run")...)
	before := readFile(t, dir, "run", "checkpoints", "step-000009", "trainer.json")
	// A step of 2,000 accumulated batches of a wide model does not end in time.
	text := writeFile(t, strings.Repeat("a long text. ", 100), dir, "text.txt")
	p := start(t, dir, with(tiny, "--data", text, "--context=512", "--width=96", "--batch=64", "--accumulate=2000", "--out=slow")...)
	awaitFile(t, filepath.Join(dir, "slow", "train.json"))
	p.Process.Signal(syscall.SIGTERM)
	for p.lines.Scan() && !strings.Contains(p.lines.Text(), "again to end at once") {
	}
	p.Process.Signal(syscall.SIGINT)
	if got := p.end(t); got != 130 {
		t.Errorf("exit code %d, want 130", got)
	}
	entries, err := os.ReadDir(filepath.Join(dir, "slow", "checkpoints"))
	if err != nil || len(entries) != 0 {
		t.Errorf("there are %d checkpoints of no step, %v", len(entries), err)
	}
	if after := readFile(t, dir, "run", "checkpoints", "step-000009", "trainer.json"); after != before {
		t.Error("another run's checkpoint changed")
	}
}

// TestSecondSignalWhileSaving sends both signals at once, many times: whatever
// was being written, the run goes on from a whole checkpoint.
func TestSecondSignalWhileSaving(t *testing.T) {
	dir := t.TempDir()
	p := start(t, dir, endless("run")...)
	p.awaitStep(t, 7) // when that of step 5 is saved
	for i := range 6 {
		p.Process.Signal(syscall.SIGINT)
		p.Process.Signal(syscall.SIGINT)
		p.Process.Signal(syscall.SIGTERM)
		if got := p.end(t); got != 130 && got != 143 {
			t.Fatalf("exit code %d\n%s", got, strings.Join(p.seen, "\n"))
		}
		p = start(t, dir, "gqa", "--resume=run", "--json")
		p.awaitStep(t, int64(10+5*i))
	}
	p.Process.Signal(syscall.SIGTERM)
	if got := p.end(t); got != 143 {
		t.Errorf("exit code %d, want 143", got)
	}
}

// TestKilledRunsResumeToTheSameBits kills a run that saves all the time, where
// the kill may come anywhere, and compares it with one that was left alone.
func TestKilledRunsResumeToTheSameBits(t *testing.T) {
	for _, flags := range [][]string{tiny, tinyViT} {
		t.Run(flags[0], func(t *testing.T) { testKilled(t, flags) })
	}
}

func testKilled(t *testing.T, flags []string) {
	dir := t.TempDir()
	command := flags[0]
	flags = with(flags, "--steps=30", "--save-every=1", "--json")
	done(t, dir, with(flags, "--out=whole")...)
	p := start(t, dir, with(flags, "--out=killed")...)
	for _, step := range []int64{3, 8, 14, 21} {
		p.awaitStep(t, step)
		p.Process.Kill()
		if got := p.end(t); got != -int(syscall.SIGKILL) {
			t.Fatalf("it ended with %d before it was killed", got)
		}
		p = start(t, dir, command, "--resume=killed", "--json")
	}
	if got := p.end(t); got != 0 {
		t.Fatalf("exit code %d\n%s", got, strings.Join(p.seen, "\n"))
	}
	sameRuns(t, dir, "killed", "whole", 30)
}

func TestInterruptedGeneration(t *testing.T) {
	dir := t.TempDir()
	text := writeFile(t, strings.Repeat("on and on. ", 600), dir, "text.txt")
	done(t, dir, with(tiny, "--steps=1", "--data", text, "--context=4096", "--batch=1", "--eval-batch=1", "--out=run")...)
	cmd := exec.Command(program, "generate", "--ckpt=run", "--prompt=on", "-n=0", "--temperature=1")
	cmd.Dir = dir
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	cmd.Process.Signal(syscall.SIGINT)
	var rest sync.WaitGroup
	rest.Go(func() { io.Copy(io.Discard, out) })
	rest.Wait()
	cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != 130 {
		t.Errorf("exit code %d, want 130", got)
	}
}
