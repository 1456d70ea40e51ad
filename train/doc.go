// Package train trains models and keeps what comes of it.
//
// A [Task] is a model and its data. A [Trainer] makes steps on it: it draws
// batches, records the loss on a graph, clips the gradients by their common
// norm and lets an [optim.Optimizer] apply them at the learning rate of an
// [optim.Schedule].
// Results go to the folder of a [Run], progress to a [Reporter]:
//
//	options, err := train.GQAPreset("default")
//	result, err := train.TrainGQA(ctx, options, "runs/first", nil)
//	// and after an interruption
//	result, err = train.ResumeGQA(ctx, "runs/first", nil, nil)
//
// [GQA] is the task of a grouped-query-attention language model that learns to
// add, or to write like a text; [ViT] that of a vision transformer that learns to
// classify images, with [TrainViT] and [ResumeViT]. [Generate], [Classify],
// [Evaluate] and [Inspect] use what a run, or somebody else, has stored.
//
// Invariants:
//
//   - The same task, config and seed give the same bits on one kernel set: at any
//     number of threads, and across any number of interruptions.
//   - A checkpoint is whole or not there, at any instant; a run's folder belongs
//     to one process at a time; no run overwrites another.
//   - Evaluation changes nothing that training depends on. Its means are over
//     targets, whatever the batches; a test split is measured once, at the end.
//   - A step takes less than 64 KiB of Go heap, once a few were made.
package train
