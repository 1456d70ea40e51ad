package train

import "github.com/stria-ml/stria/tensor"

// item returns the value of a 0-d float tensor.
func item(t *tensor.Tensor) float64 {
	if t.DType() == tensor.Float64 {
		return tensor.Item[float64](t)
	}
	return float64(tensor.Item[float32](t))
}
