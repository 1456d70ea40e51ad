package safetensors_test

import (
	"bytes"
	"testing"

	"github.com/stria-ml/stria/checkpoints/safetensors"
	"github.com/stria-ml/stria/tensor"
)

// FuzzParse parses any bytes: an error, or tensors that cover the data, which
// written again give the same tensors.
func FuzzParse(f *testing.F) {
	for _, c := range refusals {
		f.Add(c.content)
	}
	f.Add(file(`{"a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},"b":{"dtype":"BOOL","shape":[],"data_offsets":[8,9]}}`, 9))
	f.Add(file(`{"__metadata__":{"k":"v"},"e":{"dtype":"BF16","shape":[0,3],"data_offsets":[0,0]}}  `, 0))
	f.Fuzz(func(t *testing.T, content []byte) {
		file, err := safetensors.Parse("fuzz", content)
		if err != nil {
			return
		}
		var list []safetensors.Named
		size := 0
		for _, info := range file.Infos() {
			v, err := file.Tensor(info.Name)
			if err != nil {
				if info.DType != tensor.Bool {
					t.Fatalf("tensor %q: %v", info.Name, err)
				}
				return // a byte that is no bool
			}
			size += len(tensor.Bytes(v))
			list = append(list, safetensors.Named{Name: info.Name, Tensor: v})
		}
		if size >= len(content) {
			t.Fatalf("%d bytes of tensors in a file of %d", size, len(content))
		}
		if _, ok := file.Info("__metadata__"); ok {
			t.Fatal("metadata became a tensor")
		}
		checkAgain(t, file, list)
	})
}

// checkAgain writes tensors and compares what is read.
func checkAgain(t *testing.T, file *safetensors.File, list []safetensors.Named) {
	t.Helper()
	var out bytes.Buffer
	if err := safetensors.Write(&out, list, file.Metadata()); err != nil {
		t.Fatal(err)
	}
	again, err := safetensors.Parse("again", out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range list {
		v, err := again.Tensor(n.Name)
		if err != nil || !bytes.Equal(tensor.Bytes(v), tensor.Bytes(n.Tensor)) {
			t.Fatalf("tensor %q changed: %v", n.Name, err)
		}
	}
}

// FuzzIndex reads any index of a folder that has one shard.
func FuzzIndex(f *testing.F) {
	f.Add([]byte(`{"metadata":{"total_size":4},"weight_map":{"a":"model-00001-of-00001.safetensors"}}`))
	f.Add([]byte(`{"weight_map":{"a":"../x"}}`))
	f.Add([]byte(`{"weight_map":{"a":"x","a":"y"}} `))
	f.Add([]byte(`{"metadata":{"total_size":1e400,"o":[{}]},"weight_map":{}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		dir := folderOf(t, map[string][]byte{
			"model-00001-of-00001.safetensors": file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, 4),
			safetensors.IndexFile:              text,
		})
		folder, err := safetensors.OpenFolder(dir)
		if err != nil {
			return
		}
		defer folder.Close()
		for _, info := range folder.Infos() {
			if _, err := folder.Tensor(info.Name); err != nil {
				t.Fatal(err)
			}
		}
	})
}
