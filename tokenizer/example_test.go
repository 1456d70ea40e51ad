package tokenizer_test

import (
	"bytes"
	"fmt"
	"os"

	"github.com/stria-ml/stria/tokenizer"
)

func Example() {
	chars, err := tokenizer.NewChars("to be or not to be")
	if err != nil {
		fmt.Println(err)
		return
	}
	ids, _ := chars.Encode("robot")
	text, _ := chars.Decode(ids)
	fmt.Println(chars.Size(), ids, text)

	_, err = chars.Encode("bet!")
	fmt.Println(err)
	// Output:
	// 7 [5 4 1 4 6] robot
	// tokenizer: character '!' (U+0021) at position 3 (byte offset 3) is not in the vocabulary of 7 characters
}

func ExampleSave() {
	chars, err := tokenizer.NewChars("abc\xff")
	if err != nil {
		fmt.Println(err)
		return
	}
	var file bytes.Buffer
	if err := tokenizer.Save(&file, chars); err != nil {
		fmt.Println(err)
		return
	}
	os.Stdout.Write(file.Bytes())

	loaded, err := tokenizer.Load(&file)
	fmt.Println(loaded.Kind(), loaded.Size(), err)
	// Output:
	// {"stria": "tokenizer", "version": 1, "kind": "chars", "tokens": ["a", "b", "c", 255]}
	// chars 4 <nil>
}

func ExampleBytes() {
	ids, _ := tokenizer.Bytes{}.Encode("é\r\n")
	fmt.Println(ids)
	_, err := tokenizer.Bytes{}.Decode([]int64{104, 256})
	fmt.Println(err)
	// Output:
	// [195 169 13 10]
	// tokenizer: id 256 at position 1 is outside the vocabulary of 256 tokens
}
