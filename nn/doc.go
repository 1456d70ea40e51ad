// Package nn holds the layers of transformers, their losses, names and initial
// values.
//
// The model in five lines: a layer is a plain struct with exported parameters,
// made from a small config, and a method Forward. The Context that Forward gets
// carries the graph, whether this is training, and the random stream of
// dropout. Layers hold no activations: those are the graph's. Params names all
// parameters of whatever is built from layers, and InitDefault fills them.
//
// Constructors leave weights at zero, for a checkpoint to fill. To train from
// scratch call InitDefault on the finished model: KaimingNormal for matrices,
// zeros for biases, ones for norms, Normal(0.02) for embeddings. A net of several
// layers of zeros does not learn. Init chooses an Initializer by name instead.
//
// Invariants:
//
//   - A constructor returns an error for a config that does not fit together;
//     what it returns is zeros, and ones in norms, for InitDefault, Init or a
//     checkpoint to fill.
//   - Forward may run on several graphs at once, each on its own goroutine, as
//     long as nobody writes to the parameters.
//   - Splitting heads copies nothing, and merging them copies nothing after
//     attention in interleaved order; one key/value head is never repeated for
//     the query heads that read it.
//   - Cutting images into patches is two views and one copy, whatever the images'
//     strides.
//   - Parameters are named as in Hugging Face's checkpoints of Llama; those of
//     PatchEmbed as in ViT's.
package nn
