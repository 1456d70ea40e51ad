package train

import "github.com/stria-ml/stria/checkpoints"

// Inspect describes what the checkpoint at path holds, without reading its
// weights: a run folder, a checkpoint folder, a Hugging Face folder or a file.
func Inspect(path string) (checkpoints.Summary, error) { return checkpoints.Inspect(path) }
