package main

import "strings"

// oneLine returns an error's text as one line: joined errors stand behind one
// another.
func oneLine(err error) string {
	return strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; ")
}
