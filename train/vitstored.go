package train

import (
	"fmt"

	"github.com/stria-ml/stria/checkpoints"
	"github.com/stria-ml/stria/datasets/images"
	"github.com/stria-ml/stria/internal/parallel"
	"github.com/stria-ml/stria/models/vit"
	"github.com/stria-ml/stria/nn"
)

// storedViT is a vision transformer that was read, for inference.
type storedViT struct {
	model         *vit.Model
	normalization images.Normalization
	dir           string // the folder that it is in
}

func (s ModelSource) openViT() (*storedViT, error) {
	if s.Tokenizer != "" || s.Heads != "" || s.Rotary != "" {
		return nil, fmt.Errorf("%s: a vision transformer has no tokenizer, head order or rotary layout to choose", s.Path)
	}
	parallel.SetThreads(s.Threads)
	device, err := s.device()
	if err != nil {
		return nil, err
	}
	model, report, err := checkpoints.LoadViT(s.Path, checkpoints.ViTLoadOptions{Share: true})
	if err != nil {
		return nil, err
	}
	for _, note := range report.Notes {
		s.message(note)
	}
	nn.ToDevice(model, device)
	m := &storedViT{model: model, dir: folderOf(report.Path)}
	stored, err := loadNormalization(m.dir, model.Config.NumChannels)
	if err != nil {
		return nil, err
	}
	if stored == nil {
		half := images.HalfNormalization(model.Config.NumChannels)
		s.message(fmt.Sprintf("%s: there is no %s; pixels are taken as -1 to 1", m.dir, preprocessorFile))
		stored = &half
	}
	m.normalization = *stored
	return m, nil
}
