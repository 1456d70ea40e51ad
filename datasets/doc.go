// Package datasets makes training batches of token ids: sums that are
// generated, and text read from a file.
//
// A [Source] is a numbered list of examples of equal length. A [Loader] draws
// endless training batches from one in a seeded order; a [Pass] walks over one
// once, for evaluation. Batches are plain slices that the caller owns:
//
//	add, err := datasets.NewAddition(datasets.AdditionConfig{Seed: 1})
//	loader, err := datasets.NewLoader(add.TrainSource(), datasets.LoaderConfig{BatchSize: 64, Seed: 1})
//	inputs := make([]int64, 64*loader.Context())  // (B, T)
//	targets := make([]int64, len(inputs))         // (B, T), IgnoreIndex where nothing is to be learned
//	err = loader.Next(inputs, targets)
//
// Invariants:
//
//   - The same source, seed and batch size give the same batches on every
//     platform. The n-th example is a function of the seed and n alone, so the
//     position of a loader is one number: see [LoaderState].
//   - Next allocates nothing.
//   - What is held out is never trained on: [Addition] keeps a+b and b+a
//     together, and [Text] keeps its last part out of every training window.
package datasets
