package images

// ShapesConfig configures [NewShapes]. Zero values mean the defaults.
type ShapesConfig struct {
	Size     int    // height and width of the images; 0 means 32
	Channels int    // 3, or 1 for grey; 0 means 3
	Train    int    // number of images to train on; 0 means 50,000
	HeldOut  int    // number of images held out; 0 means 2,000
	Seed     uint64 // of all images
}

// Shapes is pictures of figures that are drawn on demand: nothing is kept in
// memory.
type Shapes struct{ config ShapesConfig }

// NewShapes returns the pictures of a config.
func NewShapes(config ShapesConfig) (*Shapes, error) { return &Shapes{config: config}, nil }

// TrainSource returns the pictures to train on.
func (s *Shapes) TrainSource() Source { return nil }

// HeldOutSource returns the pictures that are held out, none of which is among
// those to train on.
func (s *Shapes) HeldOutSource() Source { return nil }
