package main

import (
	"os"
	"strings"
	"testing"
)

func Example() {
	main()
	// Output: y = 3.00x -1.00
}

// TestReadme checks that the README shows this program as it is, and its output.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	_, code, _ := strings.Cut(string(program), "\n") // without its comment
	for _, want := range []string{code, "y = 3.00x -1.00"} {
		if !strings.Contains(string(readme), want) {
			t.Errorf("the README does not contain\n%s", want)
		}
	}
}
