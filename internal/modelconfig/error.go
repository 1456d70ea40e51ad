package modelconfig

import "fmt"

// Kind is the kind of a mistake in a config. It is an error itself, for
// errors.Is.
type Kind uint8

// The kinds.
const (
	ErrMalformed   Kind = iota + 1 // no JSON object, or not as it must be written
	ErrMissing                     // a field that must be there is not
	ErrType                        // a field of another type
	ErrRange                       // a number that no model has
	ErrUnsupported                 // a value that other programs know, and this one does not
	ErrMismatch                    // fields that do not fit together, such as sizes that do not divide
)

// Error returns the kind in words.
func (k Kind) Error() string {
	names := [...]string{
		ErrMalformed: "malformed", ErrMissing: "missing field", ErrType: "wrong type", ErrRange: "out of range",
		ErrUnsupported: "unsupported", ErrMismatch: "mismatch",
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
	Err   error // what made the text ErrMalformed, in place of Want and Found; or nil
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

// Is reports whether target is the error's kind.
func (e *Error) Is(target error) bool { return target == e.Kind }

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }
