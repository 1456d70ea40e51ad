package vit

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/stria-ml/stria/internal/modelconfig"
)

// readLabels reads the classes of a model that has some: a
// ViTForImageClassification, or, where the file does not say, one that names
// classes. Without names there are two classes, as Hugging Face's libraries
// leave out their defaults.
func readLabels(c *Config, o modelconfig.Object) error {
	var names []string
	if err := o.Read("architectures", "a list of names", &names); err != nil {
		return err
	}
	named := o.Has("id2label") || o.Has("label2id") || o.Has("num_labels")
	classifies := slices.Contains(names, classifierArchitecture) || len(names) == 0 && named
	if !classifies {
		return nil
	}
	labels, err := readNames(o)
	if err != nil {
		return err
	}
	c.Labels = labels
	return checkNumbersOfNames(o, labels)
}

// maxUnnamed is the most classes that a file may have without naming them: each
// costs memory.
const maxUnnamed = 1 << 17

// readNames reads id2label, or makes up names.
func readNames(o modelconfig.Object) ([]string, error) {
	count := 2
	if err := o.Read("num_labels", "an integer", &count); err != nil {
		return nil, err
	}
	switch {
	case o.Has("id2label"):
		labels, err := namesByID(o)
		if err == nil && o.Has("num_labels") && count != len(labels) {
			err = o.Wrong(ErrMismatch, "num_labels", fmt.Sprintf("%d, as id2label has", len(labels)), count)
		}
		return labels, err
	case o.Has("label2id"):
		return nil, o.Wrong(ErrMissing, "id2label", "an object, as there is a label2id", "nothing")
	case count < 1 || count > maxUnnamed:
		return nil, o.Wrong(ErrRange, "num_labels", fmt.Sprintf("1 to %d where id2label does not name them", maxUnnamed), count)
	}
	labels := make([]string, count)
	for label := range labels {
		labels[label] = fmt.Sprintf("LABEL_%d", label)
	}
	return labels, nil
}

// namesByID reads id2label, whose names are the numbers from 0 on.
func namesByID(o modelconfig.Object) ([]string, error) {
	ids, err := o.Child("id2label")
	if err != nil {
		return nil, err
	}
	count := len(ids.Fields())
	if count == 0 {
		return nil, o.Wrong(ErrRange, "id2label", "at least one class", "{}")
	}
	labels := make([]string, count)
	for name := range ids.Fields() {
		id, err := strconv.Atoi(name)
		if err != nil || id < 0 || id >= count || strconv.Itoa(id) != name {
			return nil, o.Wrong(ErrMismatch, "id2label", fmt.Sprintf("the numbers 0 to %d, for %d classes", count-1, count), modelconfig.Quote(name))
		}
		if err := ids.Need(name, "a name", &labels[id]); err != nil {
			return nil, err
		}
	}
	return labels, nil
}

// checkNumbersOfNames refuses a label2id that contradicts the labels. Where
// several classes have one name, as ImageNet's cranes do, it has one of their
// numbers.
func checkNumbersOfNames(o modelconfig.Object, labels []string) error {
	if !o.Has("label2id") {
		return nil
	}
	numbers, err := o.Child("label2id")
	if err != nil {
		return err
	}
	for name := range numbers.Fields() {
		id, err := readID(numbers, name)
		if err != nil {
			return err
		}
		if id < 0 || id >= len(labels) || labels[id] != name {
			return numbers.Wrong(ErrMismatch, name, "the number of a class that id2label gives this name", id)
		}
	}
	for id, name := range labels {
		if !numbers.Given(name) {
			return o.Wrong(ErrMismatch, "label2id", fmt.Sprintf("class %d, which id2label names %q", id, name), "no such name")
		}
	}
	return nil
}

// readID reads a class's number, which some write as a string.
func readID(numbers modelconfig.Object, name string) (int, error) {
	var id int
	var text string
	if json.Unmarshal(numbers.Raw(name), &text) == nil {
		if id, err := strconv.Atoi(text); err == nil {
			return id, nil
		}
	}
	return id, numbers.Need(name, "an integer", &id)
}
