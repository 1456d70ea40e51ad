// Package vit is the vision transformer (Dosovitskiy et al. 2021,
// arXiv:2010.11929), as Hugging Face's ViTForImageClassification and ViTModel
// compute it.
//
// The model in five lines: a Config is Hugging Face's config.json, checked. New
// makes a Model of nn layers from it, with new weights or room for a
// checkpoint's. An image is cut into patches by views and one copy; a class token
// goes before them, and learned positions are added. Blocks in which all see all
// follow; the classifier reads the class token. Forward gives logits and Loss
// what training lowers.
//
// Invariants:
//
//   - Config fields that would change the results in a way that is not supported
//     are errors that name them; nothing is guessed.
//   - Images of any size and channels that patches divide work; sizes that do not
//     divide are errors that name both, before anything is allocated.
//   - The number of parameters is known, and bounded, before any is allocated.
//   - New weights depend on the stream's key, their names and the config alone.
//   - Blocks are nn.Block: fewer key/value heads than query heads work as in
//     language models.
package vit
