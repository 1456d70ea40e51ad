package modelconfig

import "fmt"

// Kind is the kind of a mistake in a config.
type Kind uint8

// The kinds.
const (
	Malformed   Kind = iota + 1 // no JSON object, or not as it must be written
	Missing                     // a field that must be there is not
	WrongType                   // a field of another type
	OutOfRange                  // a number that no model has
	Unsupported                 // a value that other programs know, and this one does not
	Mismatch                    // fields that do not fit together, such as sizes that do not divide
)

// String returns the kind in words.
func (k Kind) String() string {
	names := [...]string{
		Malformed: "malformed", Missing: "missing field", WrongType: "wrong type", OutOfRange: "out of range",
		Unsupported: "unsupported", Mismatch: "mismatch",
	}
	if k == 0 || int(k) >= len(names) {
		return fmt.Sprintf("kind(%d)", uint8(k))
	}
	return names[k]
}

// Error says what is wrong with a config.
type Error struct {
	Kind  Kind
	Model string // the model family, which is the package: gqa
	Field string // with those around it, rope_scaling.factor; "" for the whole
	Want  string
	Found any
	Err   error // what made the text Malformed, in place of Want and Found; or nil
}

// Error returns family, field, what is wanted, and what was found.
func (e *Error) Error() string {
	where := e.Model + ": config: "
	if e.Field != "" {
		where += e.Field + ": "
	}
	if e.Err != nil {
		return where + e.Err.Error()
	}
	return fmt.Sprintf("%swant %s, found %v", where, e.Want, e.Found)
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }
