package checkpoints_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/stria-ml/stria/models/gqa"
)

// FuzzConfig parses any bytes as config.json: an error, or a config that makes
// a model and reads the same after it is written.
func FuzzConfig(f *testing.F) {
	for _, name := range goldenModels {
		text, err := os.ReadFile(filepath.Join("testdata", name, "config.json"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	for _, c := range refusals {
		config := map[string]any{"model_type": "qwen2", "hidden_size": 48, "vocab_size": 61, "num_attention_heads": 6}
		if c.config != nil {
			c.config(config)
			text, err := json.Marshal(config)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		config, err := gqa.ParseConfig(text)
		if err != nil {
			return
		}
		if err := config.Check(); err != nil {
			t.Fatalf("a config that does not pass its own check: %v", err)
		}
		if n, err := config.Parameters(); err != nil || n < 1 {
			t.Fatalf("%d parameters, %v", n, err)
		}
		written, err := json.Marshal(config)
		if err != nil {
			t.Fatal(err)
		}
		again, err := gqa.ParseConfig(written)
		if err != nil {
			t.Fatalf("%v, written from\n%s", err, text)
		}
		if !reflect.DeepEqual(again, config) {
			t.Fatalf("%+v became %+v", config, again)
		}
		if n, _ := config.Parameters(); n < 1<<16 {
			if _, err := gqa.New(config, gqa.Options{}); err != nil {
				t.Fatalf("no model: %v", err)
			}
		}
	})
}
