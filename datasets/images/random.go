package images

// The purposes for which random numbers are drawn from a seed. The numbers are
// part of what a seed means: changing one changes every run. Those of package
// datasets are 1 and 2.
const (
	forOrder   = 16 // of images in a loader
	forSplit   = 17 // which images are for validation
	forShift   = 18
	forFlip    = 19
	forCrop    = 20
	forErase   = 21 // place and size
	forNoise   = 22 // what an erased rectangle is filled with
	forShapes  = 23 // pictures to train on
	forHeldOut = 24 // pictures to validate on
)
