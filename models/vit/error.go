package vit

import "github.com/stria-ml/stria/internal/modelconfig"

// ConfigError says what is wrong with a config: the kind of mistake, the field,
// and what is wanted and was found.
type ConfigError = modelconfig.Error

// ConfigErrorKind is the kind of a mistake in a config. It is an error itself:
// errors.Is(err, ErrMissing) reports whether err is of that kind.
type ConfigErrorKind = modelconfig.Kind

// The kinds.
const (
	ErrMalformed   = modelconfig.ErrMalformed   // no JSON object, or not as it must be written
	ErrMissing     = modelconfig.ErrMissing     // a field that must be there is not
	ErrType        = modelconfig.ErrType        // a field of another type
	ErrRange       = modelconfig.ErrRange       // a number that no model has
	ErrUnsupported = modelconfig.ErrUnsupported // a value that other programs know, and this one does not
	ErrMismatch    = modelconfig.ErrMismatch    // fields that do not fit together, such as sizes that do not divide
)

// family begins the messages of errors.
const family = "vit"

// fieldError says that a field of a config is wrong.
func fieldError(kind ConfigErrorKind, field, want string, found any) error {
	return &ConfigError{Kind: kind, Model: family, Field: field, Want: want, Found: found}
}
