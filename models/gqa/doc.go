// Package gqa is the family of decoder-only language models with grouped-query
// attention: Llama, Mistral, Qwen2 and Qwen3.
//
// The model in five lines: a Config is Hugging Face's config.json, checked. New
// makes a Model of nn layers from it, with new weights or room for a
// checkpoint's. Forward gives logits and Loss what training lowers. Generate
// continues a prompt, one token at a time, with a key/value cache. nn.Params
// gives the weights under Hugging Face's names.
//
// Invariants:
//
//   - Config fields that would change the results in a way that is not supported
//     are errors that name them; nothing is guessed.
//   - The number of parameters is known, and bounded, before any is allocated.
//   - New weights depend on the stream's key, their names and the config alone.
//   - Models compute with interleaved heads and half-split rotary embedding,
//     whatever the layouts of the checkpoint that the Config names.
//   - Several goroutines may generate from one model at a time.
package gqa
