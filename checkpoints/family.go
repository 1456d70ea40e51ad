package checkpoints

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Family is a family of models, which has a Load function of its own.
type Family string

// The families.
const (
	FamilyGQA Family = "gqa" // LoadGQA
	FamilyViT Family = "vit" // LoadViT
)

// FamilyOf returns which family the model is of that path names, as LoadGQA and
// LoadViT take it. A config.json that names neither is taken for a GQA model's:
// LoadGQA says what is wrong with it.
func FamilyOf(path string) (Family, error) {
	found, _, err := Locate(path)
	if err != nil {
		return "", err
	}
	stat, err := os.Stat(found)
	if err != nil {
		return "", err
	}
	if !stat.IsDir() {
		found = filepath.Dir(found)
	}
	config := filepath.Join(found, configFile)
	text, err := readLimited(config, maxConfigBytes)
	if err != nil {
		return "", err
	}
	var fields map[string]json.RawMessage // which, unlike a struct's, tell letter case apart
	if err := json.Unmarshal(text, &fields); err != nil {
		return "", fmt.Errorf("%s: %w", config, err)
	}
	return familyOf(fields), nil
}

// familyOf returns the family of a config.json of these fields.
func familyOf(fields map[string]json.RawMessage) Family {
	var modelType string
	var names []string
	if json.Unmarshal(fields["model_type"], &modelType) == nil && modelType == "vit" {
		return FamilyViT
	}
	if json.Unmarshal(fields["architectures"], &names) == nil && modelType == "" &&
		(slices.Contains(names, "ViTForImageClassification") || slices.Contains(names, "ViTModel")) {
		return FamilyViT
	}
	return FamilyGQA
}
