// Package checkpoints loads and saves models.
//
// LoadGQA reads a folder as Hugging Face's libraries write it: config.json, and
// model.safetensors or shards of it. SaveGQA writes one. LoadViT and SaveViT do
// so for vision transformers, and FamilyOf tells which it is. Inspect describes
// what a path leads to, be it a file, a folder or a run's folder.
//
// Attention weights of language models come in several layouts, which a Layout
// names: the order of query heads, and the pairs of elements that rotary
// embedding turns. Models compute in one of them, and loading and saving
// convert exactly, by a view and one copy. Two places may say which layout a
// file has, and SaveGQA writes both: config.json, under "stria", and the
// weights' own metadata ("stria.head_order", "stria.rope_layout"), so that
// weights keep their meaning beside another config.json. The order of
// precedence is the caller's word (LoadOptions), then the files', which must
// agree where both speak, then Hugging Face's layout. In that last case the
// order is assumed: weights in another one have the same names and shapes, and
// would load as another model. Report tells what was taken and whose word it
// was; overrides and assumptions are among its Notes, and among Inspect's.
//
// # Invariants
//
//   - Every parameter gets a tensor of exactly its shape, and every tensor is
//     used or known; else loading fails, names what is wrong, and writes nothing.
//   - A load of what was saved gives the same bits, in any layout.
//   - Errors about tensors are of a kind, for errors.Is: ErrMissing, ErrShape...
//   - Saving leaves no half-written model, and replaces none.
//   - A file cannot make loading allocate more than its own size warrants.
//
// Fill and Collect do the same for other models: a Slot says which tensor a
// parameter's values are in, and how they are arranged there.
package checkpoints
