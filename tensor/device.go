package tensor

import (
	"github.com/stria-ml/stria/internal/backend"
	_ "github.com/stria-ml/stria/internal/cpu" // the device that is always there
)

// Device is where a tensor's bytes are and where its operations run. The zero
// Device is the CPU.
type Device struct{ impl backend.Device }

var cpuDevice = func() backend.Device {
	d, err := backend.Open("cpu")
	if err != nil {
		panic(err)
	}
	return d
}()

// CPU is the host's processor.
var CPU = Device{cpuDevice}

// OpenDevice returns the device of that name: "cpu", or "cuda:0" in a build
// that links it.
func OpenDevice(name string) (Device, error) {
	d, err := backend.Open(name)
	if err != nil {
		return Device{}, err
	}
	return Device{d}, nil
}

// String returns the device's name.
func (d Device) String() string { return d.backend().Name() }

// KernelSet names the kernels in use, such as "avx2" or "portable". Runs are
// bit-identical only on one kernel set.
func (d Device) KernelSet() string { return d.backend().KernelSet() }

func (d Device) backend() backend.Device {
	if d.impl == nil {
		return cpuDevice
	}
	return d.impl
}
