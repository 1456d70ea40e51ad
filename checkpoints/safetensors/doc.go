// Package safetensors reads and writes safetensors files: a header of names,
// dtypes, shapes and byte ranges in JSON, and the bytes.
//
// Reading is strict. Every name is unique, every range has exactly the bytes
// that its dtype and shape take, and the ranges cover the data once, without
// holes, overlaps or bytes left over. What breaks a rule is refused with file,
// tensor and numbers, before anything is allocated by a number from the file.
//
// Open maps the file: its tensors share the mapping, and cannot be written.
// Save replaces the file whole or not at all, and writes the logical values of
// any view.
//
// The format: https://huggingface.co/docs/safetensors
package safetensors
