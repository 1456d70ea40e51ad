package tokenizer

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// awkward holds texts that a careless tokenizer changes: line ends, a byte
// order mark, combining and wide characters, and bytes that are not UTF-8.
var awkward = []string{
	"a",
	"line\r\nline\nline\r",
	"\uFEFFbom",
	"e\u0301 \u00e9 \U0001F600 \u4e16\u754c",
	"\x00\x7f\u0080",
	"\xff\xfe\x80",
	"cut \xe4\xb8",
	"\uFFFD is not \xff",
	"\xed\xa0\x80 is a surrogate, \xf4\x90\x80\x80 is past U+10FFFF",
}

func TestRoundTrip(t *testing.T) {
	for _, text := range awkward {
		chars, err := NewChars(text)
		if err != nil {
			t.Fatalf("NewChars(%q): %v", text, err)
		}
		for _, tok := range []Tokenizer{Bytes{}, chars} {
			checkRoundTrip(t, tok, text)
		}
	}
	checkRoundTrip(t, Bytes{}, "")
}

// checkRoundTrip fails unless tok encodes text into valid ids and back.
func checkRoundTrip(t interface{ Fatalf(string, ...any) }, tok Tokenizer, text string) {
	ids, err := tok.Encode(text)
	if err != nil {
		t.Fatalf("%s: Encode(%q): %v", tok.Kind(), text, err)
	}
	for i, id := range ids {
		if id < 0 || id >= int64(tok.Size()) {
			t.Fatalf("%s: Encode(%q)[%d] = %d, outside [0, %d)", tok.Kind(), text, i, id, tok.Size())
		}
	}
	back, err := tok.Decode(ids)
	if err != nil {
		t.Fatalf("%s: Decode(%v): %v", tok.Kind(), ids, err)
	}
	if back != text {
		t.Fatalf("%s: %q came back as %q", tok.Kind(), text, back)
	}
}

func TestRoundTripProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := textGenerator().Draw(t, "text")
		chars, err := NewChars(text)
		if err != nil {
			t.Fatal(err)
		}
		checkRoundTrip(t, Bytes{}, text)
		checkRoundTrip(t, chars, text)
	})
}

// textGenerator makes non-empty texts of valid characters and stray bytes.
func textGenerator() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.StringN(1, 4, -1),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 1, 4), func(b []byte) string { return string(b) }),
		rapid.SampledFrom(awkward),
	)
	return rapid.Map(rapid.SliceOfN(piece, 1, 20), func(s []string) string { return strings.Join(s, "") })
}

func TestCharsAreSorted(t *testing.T) {
	for _, row := range []struct {
		vocabulary, text string
		want             []int64
	}{
		{"132+85=4\n", "\n+123458=", []int64{0, 1, 2, 3, 4, 5, 6, 7, 8}},
		{"aab", "ba", []int64{1, 0}},
		{"\xff\U0010FFFF\x80z", "z\U0010FFFF\x80\xff", []int64{0, 1, 2, 3}},
		{"\xff\uFFFD", "\uFFFD\xff", []int64{0, 1}},
		{"\xe4\xb8", "\xb8\xe4", []int64{0, 1}},
	} {
		chars, err := NewChars(row.vocabulary)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := chars.Encode(row.text); err != nil || !slices.Equal(got, row.want) {
			t.Errorf("vocabulary %q: Encode(%q) = %v, %v, want %v", row.vocabulary, row.text, got, err, row.want)
		}
	}
}

func TestUnknownChar(t *testing.T) {
	chars, err := NewChars("0123456789+=\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		text    string
		want    UnknownCharError
		message string
	}{
		{"1-2", UnknownCharError{Char: '-', Index: 1, Offset: 1, Size: 13},
			"tokenizer: character '-' (U+002D) at position 1 (byte offset 1) is not in the vocabulary of 13 characters"},
		{"47+8é", UnknownCharError{Char: 'é', Index: 4, Offset: 4, Size: 13},
			"tokenizer: character 'é' (U+00E9) at position 4 (byte offset 4) is not in the vocabulary of 13 characters"},
		{"\u200b", UnknownCharError{Char: '\u200b', Size: 13},
			`tokenizer: character '\u200b' (U+200B) at position 0 (byte offset 0) is not in the vocabulary of 13 characters`},
		{"1\xff", UnknownCharError{Char: 0xff, Byte: true, Index: 1, Offset: 1, Size: 13},
			"tokenizer: byte 0xFF (not valid UTF-8) at position 1 (byte offset 1) is not in the vocabulary of 13 characters"},
	} {
		_, err := chars.Encode(row.text)
		var got *UnknownCharError
		if !errors.As(err, &got) || *got != row.want {
			t.Errorf("Encode(%q): %+v, want %+v", row.text, got, row.want)
			continue
		}
		if err.Error() != row.message {
			t.Errorf("Encode(%q): %q, want %q", row.text, err, row.message)
		}
	}
}

func TestUnknownCharCountsCharactersAndBytes(t *testing.T) {
	chars, err := NewChars("\u00e9\u4e16a")
	if err != nil {
		t.Fatal(err)
	}
	_, err = chars.Encode("\u00e9\u4e16ab")
	var got *UnknownCharError
	if !errors.As(err, &got) || got.Index != 3 || got.Offset != 6 {
		t.Errorf("got %+v, want position 3 at byte offset 6", got)
	}
}

func TestIDOutOfRange(t *testing.T) {
	chars, err := NewChars("abc")
	if err != nil {
		t.Fatal(err)
	}
	for _, tok := range []Tokenizer{Bytes{}, chars} {
		for _, id := range []int64{-1, int64(tok.Size()), 1 << 40, -1 << 63} {
			_, err := tok.Decode([]int64{0, 1, id})
			var got *IDError
			if want := (IDError{ID: id, Index: 2, Size: tok.Size()}); !errors.As(err, &got) || *got != want {
				t.Errorf("%s: Decode of %d: %v, want %+v", tok.Kind(), id, err, want)
			}
		}
	}
}

func TestEmptyVocabulary(t *testing.T) {
	if _, err := NewChars(""); err == nil {
		t.Error("NewChars of an empty text succeeded")
	}
}

func FuzzChars(f *testing.F) {
	for _, text := range awkward {
		f.Add(text, "abc")
	}
	f.Fuzz(func(t *testing.T, vocabulary, text string) {
		chars, err := NewChars(vocabulary)
		if err != nil {
			if vocabulary != "" {
				t.Fatalf("NewChars(%q): %v", vocabulary, err)
			}
			return
		}
		checkRoundTrip(t, chars, vocabulary)
		ids, err := chars.Encode(text)
		if err != nil {
			var unknown *UnknownCharError
			if !errors.As(err, &unknown) || unknown.Offset >= len(text) {
				t.Fatalf("Encode(%q): %v", text, err)
			}
			return
		}
		if back, err := chars.Decode(ids); err != nil || back != text {
			t.Fatalf("%q came back as %q, %v", text, back, err)
		}
	})
}
