package main

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"
)

// idleFlags are flags that change nothing where something holds.
type idleFlags struct {
	holds  bool
	reason string
	flags  []string
}

// idle returns notes on flags that were given and change nothing.
func (f *runFlags[O]) idle(fs *pflag.FlagSet) []string {
	if f.resume != "" {
		return nil
	}
	c := f.family.common(&f.options).train
	cases := append(f.family.idle(f.options), []idleFlags{
		{c.Optimizer == "adamw", "the optimizer is adamw", []string{"momentum"}},
		{c.Optimizer == "sgd", "the optimizer is sgd", []string{"beta1", "beta2", "eps"}},
		{c.Schedule == "constant", "the schedule is constant", []string{"min-lr"}},
	}...)
	var notes []string
	for _, c := range cases {
		var given []string
		for _, name := range c.flags {
			if c.holds && fs.Changed(name) {
				given = append(given, "--"+name)
			}
		}
		if given != nil {
			notes = append(notes, fmt.Sprintf("no effect: %s, as %s", strings.Join(given, ", "), c.reason))
		}
	}
	return notes
}
