package kernelset

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestChoose(t *testing.T) {
	for _, tt := range []struct {
		wanted string
		sets   []string
		want   string
		err    string
	}{
		{"", []string{Portable}, Portable, ""},
		{"", []string{Portable, AVX2, AVX512}, AVX512, ""},
		{AVX2, []string{Portable, AVX2, AVX512}, AVX2, ""},
		{Portable, []string{Portable, AVX2}, Portable, ""},
		{AVX512, []string{Portable, AVX2}, "", `STRIA_KERNELS is "avx512", but this processor and this build have portable, avx2`},
		{"AVX2", []string{Portable, AVX2}, "", `STRIA_KERNELS is "AVX2"`},
	} {
		got, err := choose(tt.wanted, tt.sets)
		if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("choose(%q, %v) = %q, %v; want %q, %q", tt.wanted, tt.sets, got, err, tt.want, tt.err)
		}
	}
}

// TestEnvironment runs this test's program again, under each set and under one
// that does not exist.
func TestEnvironment(t *testing.T) {
	if want := os.Getenv("WANT_KERNELS"); want != "" {
		if Name() != want {
			t.Errorf("Name() = %q, want %q", Name(), want)
		}
		return
	}
	run := func(set string) (string, error) {
		c := exec.Command(os.Args[0], "-test.run=^TestEnvironment$")
		c.Env = append(os.Environ(), "STRIA_KERNELS="+set, "WANT_KERNELS="+set)
		out, err := c.CombinedOutput()
		return string(out), err
	}
	for _, set := range available() {
		if out, err := run(set); err != nil {
			t.Errorf("%s: %v\n%s", set, err, out)
		}
	}
	if out, err := run("mmx"); err == nil || out != "stria: STRIA_KERNELS is \"mmx\", but this processor and this build have "+strings.Join(available(), ", ")+"\n" {
		t.Errorf("an unknown set: %v\n%s", err, out)
	}
}
