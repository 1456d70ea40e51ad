package datasets_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stria-ml/stria/datasets"
)

// testFile returns a file of the folder that STRIA_TESTFILES names, and skips
// the test without it.
func testFile(t *testing.T, name string) string {
	t.Helper()
	folder := os.Getenv("STRIA_TESTFILES")
	if folder == "" {
		t.Skip("STRIA_TESTFILES names no folder of real files")
	}
	return filepath.Join(folder, name)
}

// TestShakespeare reads a public text: 1,115,394 bytes of 65 characters, of
// which the last tenth is held out.
func TestShakespeare(t *testing.T) {
	text, err := datasets.OpenText(testFile(t, "tinyshakespeare/input.txt"), datasets.TextConfig{Context: 64})
	if err != nil {
		t.Fatal(err)
	}
	if n := text.Tokenizer().Size(); n != 65 {
		t.Errorf("%d characters, want 65", n)
	}
	trained, held := text.TrainTokens(), text.ValidationTokens()
	if trained != 1_003_854 || held != 111_540 {
		t.Errorf("%d tokens to train on and %d held out, want 1003854 and 111540", trained, held)
	}
	targets := 0
	pass, err := datasets.NewPass(text.ValidationSource(), 7)
	if err != nil {
		t.Fatal(err)
	}
	inputs, wanted := make([]int64, 7*64), make([]int64, 7*64)
	for {
		rows, err := pass.Next(inputs, wanted)
		if err != nil {
			t.Fatal(err)
		}
		if rows == 0 {
			break
		}
		for _, target := range wanted {
			if target != datasets.IgnoreIndex {
				targets++
			}
		}
	}
	if targets != held {
		t.Errorf("a pass has %d targets, want every held-out token once, %d", targets, held)
	}
}
