package safetensors_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/stria-ml/stria/checkpoints/safetensors"
	"github.com/stria-ml/stria/tensor"
)

func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "weights.safetensors")
	weight := tensor.Arange(tensor.Float32, 0, 6, 1).View(2, 3)
	err = safetensors.Save(path, []safetensors.Named{
		{Name: "weight", Tensor: weight},
		{Name: "turned", Tensor: weight.T()}, // a view: its values are written
	}, map[string]string{"note": "two tensors"})
	if err != nil {
		panic(err)
	}

	f, err := safetensors.Open(path)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	for _, info := range f.Infos() {
		fmt.Println(info.Name, info.DType, info.Shape)
	}
	turned, err := f.Tensor("turned")
	if err != nil {
		panic(err)
	}
	fmt.Println(turned)
	// Output:
	// turned float32 [3 2]
	// weight float32 [2 3]
	// tensor([[0., 3.],
	//         [1., 4.],
	//         [2., 5.]])
}

func ExampleOpenFolder() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	err = safetensors.SaveFolder(dir, []safetensors.Named{
		{Name: "a", Tensor: tensor.Ones(tensor.Float32, 100)},
		{Name: "b", Tensor: tensor.Ones(tensor.Float32, 200)},
	}, nil, 800)
	if err != nil {
		panic(err)
	}
	f, err := safetensors.OpenFolder(dir)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	for _, file := range f.Files() {
		fmt.Println(filepath.Base(file.Path()), len(file.Infos()))
	}
	b, err := f.Tensor("b")
	fmt.Println(b.Shape(), err)
	// Output:
	// model-00001-of-00002.safetensors 1
	// model-00002-of-00002.safetensors 1
	// [200] <nil>
}
