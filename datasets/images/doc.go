// Package images makes batches of labelled images: files of MNIST and CIFAR,
// folders of pictures, and figures drawn by code.
//
// A [Source] is a numbered list of labelled images of one shape. A [Loader]
// draws endless training batches from one in a seeded order, with augmentation;
// a [Pass] walks over one once, for evaluation. Batches are plain slices that the
// caller owns:
//
//	mnist, err := images.OpenMNIST("data/mnist", images.Train)
//	norm, err := images.FixedNormalization("mnist")
//	loader, err := images.NewLoader(mnist, images.LoaderConfig{
//		BatchSize: 64, Seed: 1, Normalization: norm, Augmentation: images.Augmentation{Shift: 2},
//	})
//	pixels := make([]float32, 64*mnist.Shape().Elements()) // (B, C, H, W)
//	labels := make([]int64, 64)
//	err = loader.Next(pixels, labels)
//
// Invariants:
//
//   - Pixels lie as (C, H, W): channel after channel, rows from the top.
//   - The same source, config and seed give the same batches on every platform.
//     The n-th image with its augmentation is a function of the seed and n alone,
//     so the position of a loader is one number: see [LoaderState].
//   - Next allocates nothing.
//   - All failures are an [*Error], whose kind errors.Is finds. Files are never
//     trusted: no length is allocated, no size decoded that was not checked.
package images
