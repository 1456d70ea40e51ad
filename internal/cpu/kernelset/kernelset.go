// Package kernelset chooses the kernels that a program runs on, once, when it
// starts: the best set that its processor and its build have, or the one that
// the environment variable STRIA_KERNELS names. Tests and comparisons use it;
// results of different sets differ in their last bits.
package kernelset

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// Names of the sets, the most widely available first.
const (
	Portable = "portable" // plain Go
	AVX2     = "avx2"     // amd64 with AVX2 and FMA
	NEON     = "neon"     // every arm64; matrix products alone
	AVX512   = "avx512"   // and with BMI2 and AVX-512 F, VL, BW and DQ, as x86-64-v4 has
)

// variable is the environment variable that overrides the choice.
const variable = "STRIA_KERNELS"

var name = mustChoose()

// Name is the set in use.
func Name() string { return name }

// Has reports whether this processor and this build have a set.
func Has(set string) bool { return slices.Contains(available(), set) }

// mustChoose ends the program if the environment asks for what there is not:
// it runs before main, where no caller could take an error.
func mustChoose() string {
	set, err := choose(os.Getenv(variable), available())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	return set
}

// choose returns the wanted set, or the last of those there are if none is.
func choose(wanted string, sets []string) (string, error) {
	switch {
	case wanted == "":
		return sets[len(sets)-1], nil
	case slices.Contains(sets, wanted):
		return wanted, nil
	}
	return "", fmt.Errorf("stria: %s is %q, but this processor and this build have %s", variable, wanted, strings.Join(sets, ", "))
}
