// Package plaintext shows names that come from files and folders.
package plaintext

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Of returns a name as it is where all of it can be printed, and otherwise in
// quotes with escapes: a control character would change what a terminal shows,
// and cannot stand in XML.
func Of(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return !strconv.IsPrint(r) }) || !utf8.ValidString(name) {
		return strconv.Quote(name)
	}
	return name
}
