package cpu

import (
	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/cpu/gemm"
)

var _ backend.Device = Device{}

// KernelSet names the kernels in use. Runs are bit-identical on one set.
func (Device) KernelSet() string { return gemm.KernelSet() }
