package checkpoints

import (
	"fmt"
	"strings"
)

// TensorErrorKind is what is wrong with one of a file's tensors. It is an error
// itself: errors.Is(err, ErrShape) reports whether a tensor's shape is wrong.
type TensorErrorKind uint8

// The kinds.
const (
	ErrMissing       TensorErrorKind = iota + 1 // a parameter's tensor is not there
	ErrUnknown                                  // a tensor is no parameter's
	ErrShape                                    // another shape than the parameter's
	ErrDType                                    // a dtype that weights cannot have
	ErrRange                                    // numbers beyond the range of the wanted dtype
	ErrContradiction                            // a tensor that is no parameter's says something else than the model
)

// Error returns the kind in words.
func (k TensorErrorKind) Error() string {
	names := [...]string{
		ErrMissing: "missing tensor", ErrUnknown: "unknown tensor", ErrShape: "wrong shape", ErrDType: "wrong dtype",
		ErrRange: "numbers out of range", ErrContradiction: "contradiction",
	}
	if k == 0 || int(k) >= len(names) {
		return fmt.Sprintf("kind(%d)", uint8(k))
	}
	return names[k]
}

// TensorError says what is wrong with a tensor.
type TensorError struct {
	Kind TensorErrorKind
	Name string // of the tensor
	text string
}

// tensorError formats a TensorError.
func tensorError(kind TensorErrorKind, name, format string, args ...any) error {
	return &TensorError{kind, name, fmt.Sprintf(format, args...)}
}

// Error names the tensor, what is wanted, and what was found.
func (e *TensorError) Error() string { return fmt.Sprintf("tensor %q %s", e.Name, e.text) }

// Is reports whether target is the error's kind.
func (e *TensorError) Is(target error) bool { return target == e.Kind }

// problems are errors in one line.
type problems []error

func (p problems) Error() string {
	const most = 8
	var texts []string
	for _, err := range p[:min(len(p), most)] {
		texts = append(texts, err.Error())
	}
	if more := len(p) - most; more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(texts, "; ")
}

func (p problems) Unwrap() []error { return p }

// join makes an error of a list, or nil of none.
func join(list []error) error {
	if len(list) == 0 {
		return nil
	}
	return problems(list)
}
