package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// program is the built program.
var program string

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "train")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "train")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// outcome is what a call of the program came to.
type outcome struct {
	stdout, stderr string
	code           int
}

// call runs the program in dir.
func call(t *testing.T, dir string, args ...string) outcome {
	t.Helper()
	return finish(t, command(dir, args...))
}

func command(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	cmd.Stdout, cmd.Stderr = new(bytes.Buffer), new(bytes.Buffer)
	return cmd
}

func finish(t *testing.T, cmd *exec.Cmd) outcome {
	t.Helper()
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return outcome{cmd.Stdout.(*bytes.Buffer).String(), cmd.Stderr.(*bytes.Buffer).String(), cmd.ProcessState.ExitCode()}
}

// done runs the program, which must end with 0.
func done(t *testing.T, dir string, args ...string) outcome {
	t.Helper()
	o := call(t, dir, args...)
	if o.code != 0 {
		t.Fatalf("train %s: exit code %d\n%s", strings.Join(args, " "), o.code, o.stderr)
	}
	return o
}

// tiny are the flags of a run of a moment.
var tiny = []string{
	"gqa", "--layers=1", "--width=12", "--heads=6", "--kv-heads=2", "--hidden=16", "--batch=4", "--held-out=100",
	"--steps=9", "--warmup=2", "--eval-every=0", "--save-every=4", "--log-every=1", "--dropout=0.1",
}

func with(args []string, more ...string) []string {
	return append(append([]string(nil), args...), more...)
}

func writeFile(t *testing.T, text string, path ...string) string {
	t.Helper()
	full := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return full
}

func readFile(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
