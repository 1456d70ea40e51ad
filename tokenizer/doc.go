// Package tokenizer turns text into token ids and back.
//
// A [Tokenizer] is an immutable vocabulary of Size tokens with the ids 0 to
// Size-1; it may be used by several goroutines at once. Three rules hold for
// every tokenizer here:
//
//   - Decode(Encode(text)) is text, byte for byte: line ends, a byte order mark
//     and bytes that are not valid UTF-8 come back as they were.
//   - What cannot be encoded or decoded is an error that names the character or
//     the id and its position. Nothing is replaced or dropped in silence.
//   - [Save] and [Load] keep a vocabulary in a small JSON file of its own, so
//     that a checkpoint carries the tokenizer it was trained with.
//
// [Bytes] has one token a byte, [Chars] one token a distinct character of a text.
package tokenizer
