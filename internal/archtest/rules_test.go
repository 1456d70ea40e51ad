package archtest

// allowed lists, for every package of the module, the packages of the module
// that it may import. Paths are relative to the module. A package that is not
// here fails the test: give it a row when you add it.
var allowed = map[string][]string{
	// plain data and numbers
	"internal/archtest":    {},
	"internal/atomicfile":  {},
	"internal/backend":     {},
	"internal/caller":      {},
	"internal/freelist":    {},
	"internal/goldentest":  {},
	"internal/half":        {},
	"internal/parallel":    {"internal/freelist"},
	"internal/peakmem":     {},
	"internal/plaintext":   {},
	"internal/philox":      {},
	"internal/regularfile": {},
	"internal/seeded":      {"internal/philox"},
	"internal/strictjson":  {},
	"internal/modelconfig": {"internal/strictjson"},
	"internal/iter":        {"internal/backend"},

	// the CPU's kernels
	"internal/cpu/kernelset": {},
	"internal/cpu/gemm":      {"internal/cpu/kernelset", "internal/cpu/vec", "internal/freelist", "internal/parallel"},
	"internal/cpu/vec":       {"internal/cpu/kernelset", "internal/half", "internal/philox"},
	"internal/cpu/vecmath":   {"internal/cpu/kernelset"},
	"internal/cpu/rowvec":    {"internal/cpu/kernelset", "internal/cpu/vecmath"},
	"internal/cpu/scores":    {"internal/cpu/gemm", "internal/cpu/kernelset", "internal/cpu/rowvec", "internal/cpu/vecmath"},
	"internal/cpu/limits":    {"internal/cpu/kernelset", "internal/parallel"},
	"internal/cpu": {
		"internal/backend", "internal/cpu/gemm", "internal/cpu/rowvec", "internal/cpu/scores", "internal/cpu/vec", "internal/cpu/vecmath", "internal/freelist", "internal/half",
		"internal/iter", "internal/parallel", "internal/philox",
	},

	// the framework, from the bottom up
	"tensor": {
		"internal/backend", "internal/caller", "internal/cpu", "internal/cpu/vec", "internal/freelist", "internal/half", "internal/parallel",
		"internal/philox",
	},
	"autograd":           {"internal/caller", "tensor"},
	"autograd/gradcheck": {"tensor", "autograd"},
	"nn":                 {"internal/cpu", "tensor", "autograd"},
	"optim":              {"tensor", "autograd", "nn"},
	"models/gqa":         {"internal/modelconfig", "internal/regularfile", "tensor", "autograd", "nn"},
	"models/vit":         {"internal/modelconfig", "internal/regularfile", "tensor", "autograd", "nn"},

	// benchmarks
	"bench":         {},
	"bench/cases":   {"tensor", "autograd", "nn", "optim", "models/gqa", "models/vit"},
	"bench/compare": {"internal/atomicfile", "bench/cases"},

	// files
	"checkpoints/safetensors": {"internal/atomicfile", "internal/strictjson", "tensor"},
	"checkpoints":             {"internal/atomicfile", "tensor", "autograd", "nn", "models/gqa", "models/vit", "checkpoints/safetensors"},

	// data
	"tokenizer": {},
	"datasets":  {"internal/seeded", "tokenizer"},

	"datasets/images": {"internal/freelist", "internal/philox", "internal/plaintext", "internal/seeded"},

	// training
	"train": {
		"internal/atomicfile", "internal/cpu", "internal/parallel", "internal/peakmem", "internal/plaintext", "internal/regularfile",
		"internal/strictjson", "tensor", "autograd", "nn",
		"models/gqa", "models/vit", "checkpoints", "checkpoints/safetensors", "datasets", "datasets/images", "optim", "tokenizer",
	},
	"cmd/train": {"internal/plaintext", "internal/regularfile", "tensor", "nn", "models/gqa", "checkpoints", "checkpoints/safetensors", "datasets", "tokenizer", "train"},
}

// public is what programs outside of the module may import, the examples among
// them.
var public = []string{
	"tensor", "autograd", "autograd/gradcheck", "nn", "optim", "models/gqa", "models/vit", "checkpoints", "checkpoints/safetensors",
	"tokenizer", "datasets", "datasets/images", "train",
}

// libraries lists the packages that may import a module from outside. Test
// files need a row in testLibraries instead.
var libraries = map[string][]string{
	"golang.org/x/image":                {"datasets/images"},
	"golang.org/x/sys":                  {"checkpoints/safetensors", "internal/cpu/kernelset"},
	"golang.org/x/term":                 {"cmd/train"},
	"github.com/spf13/cobra":            {"cmd/train"},
	"github.com/spf13/pflag":            {"cmd/train"},
	"github.com/schollz/progressbar/v3": {"cmd/train"},
	"go.yaml.in/yaml/v3":                {"cmd/train"},
	"gonum.org/v1/plot":                 {"train"},
}

// testLibraries are the modules that any test may import.
var testLibraries = []string{"golang.org/x/sys", "pgregory.net/rapid"}
