package train

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// checker collects what is wrong with options. It calls an option what its
// reader knows it by: name turns the key in JSON into that.
type checker struct {
	name func(key string) string
	errs []error
}

// asKey is the name of an option in JSON, in Go programs and in files.
func asKey(key string) string { return key }

func (c *checker) err() error { return errors.Join(c.errs...) }

func (c *checker) failf(format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf(format, args...))
}

func (c *checker) add(err error) {
	if err != nil {
		c.errs = append(c.errs, err)
	}
}

func (c *checker) atLeast(key string, value, least int64) {
	if value < least {
		c.failf("%s is %d, want at least %d", c.name(key), value, least)
	}
}

func (c *checker) between(key string, value, low, high int64) {
	if value < low || value > high {
		c.failf("%s is %d, want %d to %d", c.name(key), value, low, high)
	}
}

func (c *checker) within(key string, value, low, high float64) {
	switch {
	case value >= low && value <= high:
	case high == math.MaxFloat64:
		c.failf("%s is %v, want a number of at least %v", c.name(key), value, low)
	default:
		c.failf("%s is %v, want %v to %v", c.name(key), value, low, high)
	}
}

// positive refuses what is not in (0, high].
func (c *checker) positive(key string, value, high float64) {
	switch {
	case value > 0 && value <= high:
	case high == math.MaxFloat64:
		c.failf("%s is %v, want a number above 0", c.name(key), value)
	default:
		c.failf("%s is %v, want above 0, at most %v", c.name(key), value, high)
	}
}

// belowOne refuses what is not in [0, 1).
func (c *checker) belowOne(key string, value float64) {
	if !(value >= 0 && value < 1) {
		c.failf("%s is %v, want at least 0, below 1", c.name(key), value)
	}
}

// oneOf refuses what is not among the choices.
func (c *checker) oneOf(key, value string, choices ...string) {
	if last := len(choices) - 1; !slices.Contains(choices, value) {
		c.failf("%s is %q, want %s or %s", c.name(key), value, strings.Join(choices[:last], ", "), choices[last])
	}
}
