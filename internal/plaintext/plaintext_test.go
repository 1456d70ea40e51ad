package plaintext

import "testing"

func TestOf(t *testing.T) {
	for _, c := range [][2]string{
		{"", ""}, {"a b", "a b"}, {"日本 ü \"<&>'", "日本 ü \"<&>'"},
		{"two\nlines", `"two\nlines"`}, {"\x1b[2J", `"\x1b[2J"`}, {"\x00", `"\x00"`}, {"bad\xff", `"bad\xff"`}, {"\u202e", `"\u202e"`},
	} {
		if got := Of(c[0]); got != c[1] {
			t.Errorf("%q is shown as %s, want %s", c[0], got, c[1])
		}
	}
}
