package train

import (
	"fmt"
	"io"
	"path/filepath"
	"text/tabwriter"

	"github.com/stria-ml/stria/checkpoints"
	"github.com/stria-ml/stria/checkpoints/safetensors"
	"github.com/stria-ml/stria/models/gqa"
)

// Inspect writes what the model at path is.
func Inspect(out io.Writer, path string) error {
	path, _, err := checkpoints.Locate(path)
	if err != nil {
		return err
	}
	config, err := gqa.ReadConfig(filepath.Join(folderOf(path), configFile))
	if err != nil {
		return err
	}
	infos, _, err := safetensors.ReadHeader(filepath.Join(folderOf(path), modelFile))
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: %s, %v heads\n", path, config.ModelType, config.HeadOrder)
	table := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	for _, info := range infos {
		fmt.Fprintf(table, "%s\t%v\t%v\n", info.Name, info.DType, info.Shape)
	}
	return table.Flush()
}
