package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/stria-ml/stria/internal/regularfile"
)

// setting is a line of a YAML file of flags.
type setting struct {
	name  string
	value string
	line  int
}

// settings are a YAML file of flags.
type settings struct {
	path string
	list []setting
}

// maxSettingsBytes is the size of the largest YAML file that is read.
const maxSettingsBytes = 1 << 20

// readSettings reads a YAML file; no path gives no settings. All that is wrong
// with it is a wrong usage.
func readSettings(path string) (settings, error) {
	if path == "" {
		return settings{}, nil
	}
	text, err := regularfile.Read(path, maxSettingsBytes)
	if err != nil {
		return settings{}, usageError{err}
	}
	return parseSettings(path, text)
}

// parseSettings reads the text of a YAML file: one mapping of flags' names to
// single values. What is wrong is named with its file and line.
func parseSettings(path string, text []byte) (settings, error) {
	s := settings{path: path}
	if len(text) > maxSettingsBytes {
		return s, usagef("%s: more than %d bytes", path, maxSettingsBytes)
	}
	mapping, err := onlyDocument(text)
	if err != nil || mapping == nil {
		return s, wrapUsage(path, err)
	}
	if mapping.Kind != yaml.MappingNode {
		return s, usagef("%s:%d: want a mapping of flags to values", path, mapping.Line)
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		key, value := mapping.Content[i], mapping.Content[i+1]
		if first, known := seen[key.Value]; known {
			return s, usagef("%s:%d: key %q is given twice, first in line %d", path, key.Line, key.Value, first)
		}
		seen[key.Value] = key.Line
		if key.Kind != yaml.ScalarNode || value.Kind != yaml.ScalarNode {
			return s, usagef("%s:%d: key %q: want a single value", path, key.Line, key.Value)
		}
		if value.Tag == "!!null" || value.Value == "" {
			return s, usagef("%s:%d: key %q has no value", path, key.Line, key.Value)
		}
		s.list = append(s.list, setting{name: key.Value, value: value.Value, line: key.Line})
	}
	return s, nil
}

// onlyDocument returns the value of the text's document, or nil where there is
// nothing but comments.
func onlyDocument(text []byte) (*yaml.Node, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document, second yaml.Node
	switch err := decoder.Decode(&document); {
	case err == io.EOF:
		return nil, nil
	case err != nil:
		return nil, err
	}
	switch err := decoder.Decode(&second); {
	case err == nil:
		return nil, fmt.Errorf("more than one document, the first begins in line %d", document.Line)
	case err != io.EOF:
		return nil, err
	}
	if value := document.Content[0]; value.Tag != "!!null" {
		return value, nil
	}
	return nil, nil
}

// wrapUsage makes an error of a file a usage error.
func wrapUsage(path string, err error) error {
	if err == nil {
		return nil
	}
	return usagef("%s: %w", path, err)
}

// apply sets the flags that the settings name. Those that are set already win,
// but a value that the flag does not take is an error even so.
func (s settings) apply(fs *pflag.FlagSet) error {
	for _, line := range s.list {
		flag := fs.Lookup(line.name)
		if flag == nil || line.name == "config" || line.name == "help" {
			return usagef("%s:%d: unknown key %q, %s", s.path, line.line, line.name, suggestion(fs, line.name))
		}
		given, value := flag.Changed, flag.Value.String()
		if err := fs.Set(line.name, line.value); err != nil {
			return usagef("%s:%d: %w", s.path, line.line, err)
		}
		if given {
			if err := fs.Set(line.name, value); err != nil {
				return usageError{err}
			}
		}
	}
	return nil
}

// suggestion says what to write for a key that is no flag's name.
func suggestion(fs *pflag.FlagSet, key string) string {
	if name := flagName(strings.ToLower(key)); name != key && fs.Lookup(name) != nil {
		return fmt.Sprintf("did you mean %q?", name)
	}
	return "want the name of a flag"
}

// flagName returns the flag for an option's key in JSON.
func flagName(key string) string { return strings.ReplaceAll(key, "_", "-") }

// asFlag is flagName as it is typed.
func asFlag(key string) string { return "--" + flagName(key) }
