package images

import (
	"strings"

	"github.com/stria-ml/stria/internal/plaintext"
)

// Kind is what is wrong with data or a request. It is an error itself, for
// errors.Is: errors.Is(err, images.ErrTruncated).
type Kind int

// The kinds of errors.
const (
	ErrOpen       Kind = iota + 1 // a file or folder cannot be opened or read
	ErrNotRegular                 // a folder, pipe or device where a file is wanted, or a file where a folder is
	ErrMagic                      // the first bytes are not those of the format
	ErrSwapped                    // labels where images are wanted, or images where labels are
	ErrFormat                     // a file of a kind that is not read, or a compressed stream that is damaged
	ErrCount                      // two counts that should agree differ
	ErrLabel                      // a label outside of the classes
	ErrTruncated                  // the file ends too early
	ErrTrailing                   // the file goes on after its end
	ErrTooLarge                   // a size or a sum of sizes is above its limit
	ErrTooSmall                   // a size is below its limit
	ErrEmpty                      // there are no images, or no classes
	ErrDecode                     // an image cannot be decoded
	ErrChannels                   // grey where colour is wanted, or the reverse
	ErrClasses                    // class names that repeat, are missing, or are not those wanted
	ErrConfig                     // an option is out of range
	ErrState                      // a saved position belongs to another loader
)

var kinds = [...]string{
	ErrOpen:       "cannot be read",
	ErrNotRegular: "wrong kind of file",
	ErrMagic:      "wrong magic number",
	ErrSwapped:    "images and labels exchanged",
	ErrFormat:     "unknown format",
	ErrCount:      "counts differ",
	ErrLabel:      "label out of range",
	ErrTruncated:  "ends too early",
	ErrTrailing:   "bytes after the end",
	ErrTooLarge:   "too large",
	ErrTooSmall:   "too small",
	ErrEmpty:      "empty",
	ErrDecode:     "cannot be decoded",
	ErrChannels:   "wrong number of channels",
	ErrClasses:    "wrong classes",
	ErrConfig:     "invalid option",
	ErrState:      "position of another loader",
}

// Error returns what the kind says in a few words.
func (k Kind) Error() string {
	if k < 1 || int(k) >= len(kinds) {
		return "invalid kind of error"
	}
	return kinds[k]
}

// Error is what every function of this package fails with.
type Error struct {
	Kind  Kind
	File  string // the file or folder, where there is one
	Field string // what is wrong: "number of images", "label 17", "crop"
	Want  string // what it should be
	Found string // what it is
	Err   error  // the cause, where another package gave one
}

// Error names file, field, what was wanted and what was found.
func (e *Error) Error() string {
	var text strings.Builder
	text.WriteString("images: ")
	if e.File != "" {
		text.WriteString(plaintext.Of(e.File) + ": ")
	}
	text.WriteString(e.Kind.Error())
	if e.Field != "" {
		text.WriteString(": " + e.Field)
	}
	if e.Found != "" {
		text.WriteString(" is " + e.Found)
	}
	if e.Want != "" {
		text.WriteString(", want " + e.Want)
	}
	if e.Err != nil {
		text.WriteString(": " + e.Err.Error())
	}
	return text.String()
}

// Is reports whether target is the error's kind.
func (e *Error) Is(target error) bool { return target == e.Kind }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
