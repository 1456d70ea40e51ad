package images

import "strconv"

// fashion are the classes of Fashion-MNIST. (H. Xiao, K. Rasul, R. Vollgraf,
// "Fashion-MNIST: a novel image dataset for benchmarking machine learning
// algorithms", arXiv:1708.07747, table 2.)
var fashion = []string{
	"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot",
}

// OpenMNIST reads the handwritten digits of MNIST from the folder that holds
// its files under their published names, such as t10k-images-idx3-ubyte, plain or
// with .gz: classes "0" to "9", and in the published files shape (1, 28, 28). Only
// the two files of the part need to be there.
func OpenMNIST(dir string, part Part) (*Set, error) {
	return openMNIST("mnist", dir, part, numbers(10))
}

// OpenFashionMNIST reads Fashion-MNIST, whose files have the names and sizes of
// MNIST's, and whose ten classes are pieces of clothing.
func OpenFashionMNIST(dir string, part Part) (*Set, error) {
	return openMNIST("fashion-mnist", dir, part, fashion)
}

func openMNIST(name, dir string, part Part, classes []string) (*Set, error) {
	prefix := map[Part]string{Train: "train", Test: "t10k"}[part]
	if prefix == "" {
		return nil, partError(part)
	}
	if err := checkFolder(dir); err != nil {
		return nil, err
	}
	images, err := find(dir, prefix+"-images-idx3-ubyte", prefix+"-images-idx3-ubyte.gz",
		prefix+"-images.idx3-ubyte", prefix+"-images.idx3-ubyte.gz")
	if err != nil {
		return nil, err
	}
	labels, err := find(dir, prefix+"-labels-idx1-ubyte", prefix+"-labels-idx1-ubyte.gz",
		prefix+"-labels.idx1-ubyte", prefix+"-labels.idx1-ubyte.gz")
	if err != nil {
		return nil, err
	}
	return openIDX(name+" "+string(part), images, labels, IDXConfig{Classes: classes})
}

func partError(part Part) error {
	return &Error{Kind: ErrConfig, Field: "part", Want: "train or test", Found: strconv.Quote(string(part))}
}
