package train

import (
	"fmt"
	"math"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/datasets/images"
	"github.com/stria-ml/stria/internal/cpu"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

// imageBatch is a batch's memory, used again and again.
type imageBatch struct {
	pixels    *tensor.Tensor // (B, C, H, W), over the slice
	labels    *tensor.Tensor // (B), likewise
	pixelData []float32
	labelData []int64
}

// newImageBatch makes room for a batch, which checkImageBatches has allowed.
func newImageBatch(rows int, s images.Shape) imageBatch {
	b := imageBatch{pixelData: make([]float32, rows*s.Elements()), labelData: make([]int64, rows)}
	b.pixels = tensor.Wrap(b.pixelData, rows, s.Channels, s.Height, s.Width)
	b.labels = tensor.Wrap(b.labelData, rows)
	return b
}

// checkImageBatches refuses so many batches that the machine has no memory for
// their pixels.
func checkImageBatches(batches, rows int, s images.Shape) error {
	const most = math.MaxInt / 2 // bytes
	need := float64(batches) * float64(rows) * float64(s.Elements()) * float64(tensor.Float32.Size())
	if err := cpu.CheckAlloc(int(min(need, most))); err != nil {
		return fmt.Errorf("%d batches of %d images of %v: %w", batches, rows, s, err)
	}
	return nil
}

// input brings the pixels to the context's graph.
func (b imageBatch) input(c *nn.Context) *autograd.Var {
	return c.Graph.Const(b.pixels.ToDevice(c.Device()))
}
