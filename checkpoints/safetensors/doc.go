// Package safetensors reads and writes safetensors files: a header of names,
// dtypes, shapes and byte ranges in JSON, and the bytes.
//
// Reading is strict. Every name is unique, every range has exactly the bytes
// that its dtype and shape take, and the ranges cover the data once, without
// holes, overlaps or bytes left over. What breaks a rule is refused with file,
// tensor and numbers, before anything is allocated by a number from the file.
//
// Open maps the file: its tensors share the mapping, cannot be written, and
// stay valid after Close. Whoever shortens a file that is mapped ends the
// program that reads it; replace files by renaming, as Save does: whole or not at
// all. Save writes the logical values of any view.
//
// OpenFolder and SaveFolder do the same for a folder with a model's tensors, in
// one file or in shards that an index lists.
//
// The format: https://huggingface.co/docs/safetensors
package safetensors
