package datasets

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stria-ml/stria/tokenizer"
	"pgregory.net/rapid"
)

func newTestText(t interface{ Fatal(...any) }, text string, config TextConfig) *Text {
	d, err := NewText(text, config)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestTextSplit(t *testing.T) {
	for _, row := range []struct {
		tokens     int
		fraction   float64
		train, val int
	}{
		{10, 0, 9, 1},
		{100, 0.1, 90, 10},
		{1115394, 0, 1003854, 111540},
		{101, 0.5, 50, 51},
		{8, 0.75, 2, 6},
		{20, 1e-300, 19, 1},
	} {
		text := strings.Repeat("x", row.tokens)
		d := newTestText(t, text, TextConfig{Context: 1, ValFraction: row.fraction, Tokenizer: tokenizer.Bytes{}})
		if d.TrainTokens() != row.train || d.ValidationTokens() != row.val || d.Tokens() != row.tokens {
			t.Errorf("%d tokens, fraction %v: %d + %d = %d, want %d + %d",
				row.tokens, row.fraction, d.TrainTokens(), d.ValidationTokens(), d.Tokens(), row.train, row.val)
		}
	}
}

func TestTextExamples(t *testing.T) {
	d := newTestText(t, "abcdefghij", TextConfig{Context: 3, ValFraction: 0.4, Tokenizer: tokenizer.Bytes{}})
	for _, row := range []struct {
		source          Source
		inputs, targets []string
	}{
		{d.TrainSource(), []string{"abc", "bcd", "cde"}, []string{"bcd", "cde", "def"}},
		{d.ValidationSource(), []string{"fgh", "i\x00\x00"}, []string{"ghi", "j__"}},
		{d.WholeSource(), []string{"abc", "def", "ghi"}, []string{"bcd", "efg", "hij"}},
	} {
		inputs, targets := allRows(row.source)
		if !slices.Equal(inputs, row.inputs) || !slices.Equal(targets, row.targets) {
			t.Errorf("%s: inputs %q targets %q, want %q and %q", row.source.ID(), inputs, targets, row.inputs, row.targets)
		}
	}
}

// allRows returns every example of a source of bytes, with '_' for IgnoreIndex.
func allRows(s Source) (inputs, targets []string) {
	in, out := row(s)
	for i := range s.Len() {
		s.Example(i, in, out)
		inputs = append(inputs, bytesOf(in))
		targets = append(targets, bytesOf(out))
	}
	return inputs, targets
}

func bytesOf(ids []int64) string {
	var text strings.Builder
	for _, id := range ids {
		if id == IgnoreIndex {
			id = '_'
		}
		text.WriteByte(byte(id))
	}
	return text.String()
}

// Every validation token is a target once, in order, whatever the sizes.
func TestValidationCoversEveryTokenOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOfN(rapid.Byte(), 4, 200).Draw(t, "text"))
		fraction := rapid.Float64Range(0.01, 0.7).Draw(t, "fraction")
		most := int(float64(len(text))*(1-fraction)) - 1
		if most < 1 {
			t.Skip("too short")
		}
		context := rapid.IntRange(1, most).Draw(t, "context")
		d := newTestText(t, text, TextConfig{Context: context, ValFraction: fraction, Tokenizer: tokenizer.Bytes{}})
		if got, want := passText(t, d.ValidationSource()), text[d.TrainTokens():]; got != want {
			t.Fatalf("validation targets are %q, want %q", got, want)
		}
		if got, want := passText(t, d.WholeSource()), text[1:]; got != want {
			t.Fatalf("targets of the whole text are %q, want %q", got, want)
		}
		checkTrainWindows(t, d, text)
	})
}

// passText returns the targets of a whole pass over s, a source of bytes.
func passText(t *rapid.T, s Source) string {
	batch := rapid.IntRange(1, 5).Draw(t, "batch")
	pass, err := NewPass(s, batch)
	if err != nil {
		t.Fatal(err)
	}
	inputs, targets := make([]int64, batch*s.Context()), make([]int64, batch*s.Context())
	var text strings.Builder
	batches := 0
	for {
		rows, err := pass.Next(inputs, targets)
		if err != nil {
			t.Fatal(err)
		}
		if rows == 0 {
			break
		}
		batches++
		for _, id := range targets {
			if id != IgnoreIndex {
				text.WriteByte(byte(id))
			}
		}
	}
	if batches != pass.Batches() {
		t.Fatalf("%d batches, and Batches says %d", batches, pass.Batches())
	}
	return text.String()
}

// checkTrainWindows fails if a training window reaches into the validation part.
func checkTrainWindows(t *rapid.T, d *Text, text string) {
	source := d.TrainSource()
	inputs, targets := allRows(source)
	for i := range source.Len() {
		if end := i + source.Context(); end >= d.TrainTokens() {
			t.Fatalf("window %d ends at token %d of %d", i, end, d.TrainTokens())
		}
		if want := text[i : i+source.Context()]; inputs[i] != want {
			t.Fatalf("window %d has inputs %q, want %q", i, inputs[i], want)
		}
		if want := text[i+1 : i+1+source.Context()]; targets[i] != want {
			t.Fatalf("window %d has targets %q, want %q", i, targets[i], want)
		}
	}
	if source.Len() != d.TrainTokens()-source.Context() {
		t.Fatalf("%d windows", source.Len())
	}
}

func TestOpenTextKeepsBytes(t *testing.T) {
	const text = "\uFEFFone\r\ntwo\n\u00e9\u4e16\xff\xfe\x00 three\r"
	path := filepath.Join(t.TempDir(), "text.txt")
	writeFile(t, path, text)
	for _, tok := range []tokenizer.Tokenizer{nil, tokenizer.Bytes{}} {
		d, err := OpenText(path, TextConfig{Context: 4, Tokenizer: tok})
		if err != nil {
			t.Fatal(err)
		}
		if back, err := d.Tokenizer().Decode(d.ids); err != nil || back != text {
			t.Errorf("%s: %q, %v", d.Tokenizer().Kind(), back, err)
		}
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestOpenTextRefuses(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		writeFile(t, path, text)
		return path
	}
	hundred := file("hundred", strings.Repeat("ab", 50))
	digits, err := tokenizer.NewChars("0123456789")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name, path string
		config     TextConfig
		is         error
		want       string
	}{
		{"missing", filepath.Join(dir, "none"), TextConfig{Context: 8}, fs.ErrNotExist, "no such file"},
		{"directory", dir, TextConfig{Context: 8}, ErrNotRegular, "directory"},
		{"empty", file("empty", ""), TextConfig{Context: 8}, ErrEmptyText, "the text is empty"},
		{"one byte", file("one", "x"), TextConfig{Context: 8}, ErrTextTooShort, "1 tokens, of which 0 for training, and context 8 needs at least 9"},
		{"short", hundred, TextConfig{Context: 90}, ErrTextTooShort, "100 tokens, of which 90 for training, and context 90 needs at least 91"},
		{"short for a huge context", hundred, TextConfig{Context: math.MaxInt}, ErrTextTooShort, "100 tokens"},
		{"large", hundred, TextConfig{Context: 8, MaxBytes: 99}, ErrTextTooLarge, "100 bytes, and the limit is 99"},
		{"unknown character", hundred, TextConfig{Context: 8, Tokenizer: digits}, nil, "character 'a' (U+0061) at position 0"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := OpenText(row.path, row.config)
			if err == nil {
				t.Fatal("OpenText succeeded")
			}
			if row.is != nil && !errors.Is(err, row.is) {
				t.Errorf("error %q is no %q", err, row.is)
			}
			if !strings.Contains(err.Error(), row.want) || !strings.Contains(err.Error(), row.path) {
				t.Errorf("error %q names not both %q and %q", err, row.path, row.want)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q has several lines", err)
			}
		})
	}
	if _, err := OpenText(hundred, TextConfig{Context: 89, MaxBytes: 100}); err != nil {
		t.Errorf("the longest context that fits: %v", err)
	}
}

func TestTextConfigRefuses(t *testing.T) {
	for _, row := range []struct {
		config TextConfig
		want   string
	}{
		{TextConfig{}, "context 0"},
		{TextConfig{Context: -5}, "context -5"},
		{TextConfig{Context: 1, ValFraction: -0.1}, "validation fraction -0.1"},
		{TextConfig{Context: 1, ValFraction: 1}, "validation fraction 1"},
		{TextConfig{Context: 1, ValFraction: math.NaN()}, "validation fraction NaN"},
		{TextConfig{Context: 1, ValFraction: math.Inf(1)}, "validation fraction +Inf"},
		{TextConfig{Context: 1, MaxBytes: -1}, "limit of -1 bytes"},
	} {
		for _, err := range []error{errorOf(NewText("some text", row.config)), errorOf(OpenText("none", row.config))} {
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("%+v: error %v, want %q", row.config, err, row.want)
			}
		}
	}
}

func errorOf(_ *Text, err error) error { return err }

func TestTextIDs(t *testing.T) {
	base := newTestText(t, "abcabcabcabc", TextConfig{Context: 2})
	same := newTestText(t, "abcabcabcabc", TextConfig{Context: 2})
	if a, b := base.TrainSource().ID(), same.TrainSource().ID(); a != b {
		t.Errorf("one text has the IDs %s and %s", a, b)
	}
	seen := map[string]string{base.TrainSource().ID(): "base"}
	for name, s := range map[string]Source{
		"validation":       base.ValidationSource(),
		"whole":            base.WholeSource(),
		"other text":       newTestText(t, "abcabcabcabb", TextConfig{Context: 2}).TrainSource(),
		"other tokenizer":  newTestText(t, "abcabcabcabc", TextConfig{Context: 2, Tokenizer: tokenizer.Bytes{}}).TrainSource(),
		"other validation": newTestText(t, "abcabcabcabc", TextConfig{Context: 2, ValFraction: 0.5}).TrainSource(),
	} {
		if other, ok := seen[s.ID()]; ok {
			t.Errorf("%s and %s share the ID %s", name, other, s.ID())
		}
		seen[s.ID()] = name
	}
}

func FuzzText(f *testing.F) {
	f.Add("hello, hello", 3, 0.1)
	f.Add("\uFEFF\r\n\xff", 1, 0.5)
	f.Add("", 0, math.NaN())
	f.Fuzz(func(t *testing.T, text string, context int, fraction float64) {
		d, err := NewText(text, TextConfig{Context: context, ValFraction: fraction, MaxBytes: 1 << 16})
		if err != nil {
			return
		}
		if back, err := d.Tokenizer().Decode(d.ids); err != nil || back != text {
			t.Fatalf("%q came back as %q, %v", text, back, err)
		}
		if d.TrainTokens() <= context || d.ValidationTokens() < 1 || d.TrainTokens()+d.ValidationTokens() != d.Tokens() {
			t.Fatalf("context %d, fraction %v: %d + %d of %d tokens", context, fraction, d.TrainTokens(), d.ValidationTokens(), d.Tokens())
		}
		source := d.ValidationSource()
		inputs, targets := row(source)
		var learned int
		for i := range source.Len() {
			source.Example(i, inputs, targets)
			for _, id := range targets {
				if id != IgnoreIndex {
					learned++
				}
			}
		}
		if learned != d.ValidationTokens() {
			t.Fatalf("%d validation targets of %d tokens", learned, d.ValidationTokens())
		}
		source = d.TrainSource()
		source.Example(source.Len()-1, inputs, targets)
		if last := d.ids[d.TrainTokens()-1]; targets[len(targets)-1] != last {
			t.Fatalf("the last training target is %d, want %d", targets[len(targets)-1], last)
		}
	})
}
