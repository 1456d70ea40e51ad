package gqa

import "github.com/stria-ml/stria/internal/modelconfig"

// ConfigError says what is wrong with a config: the kind of mistake, the field,
// and what is wanted and was found.
type ConfigError = modelconfig.Error

// ConfigErrorKind is the kind of a mistake in a config.
type ConfigErrorKind = modelconfig.Kind

// The kinds.
const (
	Malformed   = modelconfig.Malformed   // no JSON object, or not as it must be written
	Missing     = modelconfig.Missing     // a field that must be there is not
	WrongType   = modelconfig.WrongType   // a field of another type
	OutOfRange  = modelconfig.OutOfRange  // a number that no model has
	Unsupported = modelconfig.Unsupported // a value that other programs know, and this one does not
	Mismatch    = modelconfig.Mismatch    // fields that do not fit together, such as sizes that do not divide
)

// family begins the messages of errors.
const family = "gqa"

// fieldError says that a field of a config is wrong.
func fieldError(kind ConfigErrorKind, field, want string, found any) error {
	return &ConfigError{Kind: kind, Model: family, Field: field, Want: want, Found: found}
}
