package train

import (
	"fmt"
	"strings"
)

// Preset is a named set of options.
type Preset[O any] struct {
	Name    string
	About   string
	Options O
}

// findPreset returns the options of a preset.
func findPreset[O any](presets []Preset[O], name string) (O, error) {
	var names []string
	for _, p := range presets {
		if p.Name == name {
			return p.Options, nil
		}
		names = append(names, p.Name)
	}
	var none O
	return none, fmt.Errorf("preset is %q, want %s", name, strings.Join(names, ", "))
}
