package tokenizer

const byteCount = 256

// Bytes is the tokenizer whose ids are the bytes of the text: it needs no
// vocabulary and can encode anything.
type Bytes struct{}

// Encode returns the bytes of text. It never fails.
func (Bytes) Encode(text string) ([]int64, error) {
	ids := make([]int64, len(text))
	for i := range len(text) {
		ids[i] = int64(text[i])
	}
	return ids, nil
}

// Decode returns the text whose bytes are ids, which need not be valid UTF-8.
func (Bytes) Decode(ids []int64) (string, error) {
	text := make([]byte, len(ids))
	for i, id := range ids {
		if id < 0 || id >= byteCount {
			return "", &IDError{ID: id, Index: i, Size: byteCount}
		}
		text[i] = byte(id)
	}
	return string(text), nil
}

// Size returns 256.
func (Bytes) Size() int { return byteCount }

// Kind returns "bytes".
func (Bytes) Kind() string { return "bytes" }
