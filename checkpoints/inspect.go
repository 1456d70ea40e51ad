package checkpoints

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/stria-ml/stria/models/gqa"
	"github.com/stria-ml/stria/models/vit"
)

// Summary is what there is to know about a checkpoint without computing with
// it.
type Summary struct {
	Path       string          `json:"path"` // of the folder or file that was found
	Files      []string        `json:"files"`
	ModelType  string          `json:"model_type,omitempty"`
	Config     json.RawMessage `json:"config,omitempty"` // config.json as it is
	Layout     *LayoutSummary  `json:"layout,omitempty"` // of a GQA model
	Parameters int             `json:"parameters"`       // elements of all tensors
	Bytes      int             `json:"bytes"`            // of all tensors
	DTypes     map[string]int  `json:"dtypes"`           // elements by dtype
	Tensors    []TensorSummary `json:"tensors"`
	Notes      []string        `json:"notes,omitempty"`

	gqa *gqa.Config
	vit *vit.Config
}

// LayoutSummary says how attention's weights are arranged, and where that was
// learned.
type LayoutSummary struct {
	HeadOrder  string `json:"head_order"`
	RopeLayout string `json:"rope_layout"`
	From       Origin `json:"from"`
}

// TensorSummary describes a tensor.
type TensorSummary struct {
	Name  string `json:"name"`
	DType string `json:"dtype"`
	Shape []int  `json:"shape"`
}

// maxConfigBytes is the size of the largest config.json that is read. The names
// of many classes take more than a MiB.
const maxConfigBytes = 4 << 20

// Inspect describes the checkpoint that path names: a file, a model's folder,
// or a run's, of which it takes the newest checkpoint. A config.json that is
// missing or not understood is a note, and so is a layout that the files do not
// say; what is wrong with the tensors is an error.
func Inspect(path string) (Summary, error) {
	w, err := openWeights(path)
	if err != nil {
		return Summary{}, err
	}
	defer w.Close()
	s := Summary{Path: w.Path(), Files: w.files, DTypes: map[string]int{}, Notes: w.notes}
	for _, info := range w.Infos() {
		elements := (info.End - info.Start) / info.DType.Size()
		s.Parameters += elements
		s.Bytes += info.End - info.Start
		s.DTypes[info.DType.String()] += elements
		s.Tensors = append(s.Tensors, TensorSummary{info.Name, info.DType.String(), info.Shape})
	}
	slices.SortFunc(s.Tensors, func(a, b TensorSummary) int { return compareNatural(a.Name, b.Name) })
	return s, s.readConfig(w)
}

// compareNatural orders layers.2 before layers.10.
func compareNatural(a, b string) int {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(as), len(bs)) {
		x, errX := strconv.Atoi(as[i])
		y, errY := strconv.Atoi(bs[i])
		c := cmp.Compare(as[i], bs[i])
		if errX == nil && errY == nil {
			c = cmp.Or(cmp.Compare(x, y), c)
		}
		if c != 0 {
			return c
		}
	}
	return cmp.Compare(len(as), len(bs))
}

// readConfig adds what config.json says.
func (s *Summary) readConfig(w *weights) error {
	text, err := readLimited(w.configPath, maxConfigBytes)
	if errors.Is(err, fs.ErrNotExist) {
		s.Notes = append(s.Notes, "there is no "+w.configPath)
		return nil
	}
	if err != nil {
		return err
	}
	var fields map[string]json.RawMessage // which, unlike a struct's, tell letter case apart
	if err := json.Unmarshal(text, &fields); err != nil {
		s.Notes = append(s.Notes, fmt.Sprintf("%s: %v", w.configPath, err))
		return nil
	}
	s.Config = text
	if familyOf(fields) == FamilyViT {
		s.readViT(w)
	} else {
		_ = json.Unmarshal(fields["model_type"], &s.ModelType) // of another model, too
		s.readGQA(w)
	}
	return nil
}

// readViT adds what the config of a vision transformer says.
func (s *Summary) readViT(w *weights) {
	s.ModelType = string(FamilyViT)
	config, err := vit.ReadConfig(w.configPath)
	if err != nil {
		s.Notes = append(s.Notes, err.Error())
		return
	}
	s.vit = &config
}

// readGQA adds what the config of a GQA model says.
func (s *Summary) readGQA(w *weights) {
	c := &checkpoint{weights: w}
	err := c.readConfig()
	if err != nil {
		s.Notes = append(s.Notes, err.Error())
		return
	}
	s.gqa, s.ModelType = &c.config, c.config.ModelType
	layout, report, err := c.begin(LoadOptions{})
	if err != nil {
		s.Notes = append(s.Notes, err.Error())
		return
	}
	s.Layout = &LayoutSummary{layout.Heads.String(), layout.Rotary.String(), report.Origin}
	s.Notes = report.Notes
}

// readLimited reads a file of at most that many bytes.
func readLimited(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(text)) > most {
		return nil, fmt.Errorf("%s: it is longer than %d bytes", path, most)
	}
	return text, nil
}

// String returns the summary as a table.
func (s Summary) String() string {
	var b strings.Builder
	s.writeHead(&b)
	s.writeTensors(&b)
	return b.String()
}

func (s Summary) writeHead(b *strings.Builder) {
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	defer t.Flush()
	fmt.Fprintf(t, "path\t%s\n", s.Path)
	fmt.Fprintf(t, "files\t%s\n", strings.Join(s.Files, ", "))
	if s.ModelType != "" {
		fmt.Fprintf(t, "model\t%s\n", s.ModelType)
	}
	if c := s.gqa; c != nil {
		fmt.Fprintf(t, "sizes\t%d layers of width %d, MLP %d, vocabulary %d, context %d\n",
			c.NumHiddenLayers, c.HiddenSize, c.IntermediateSize, c.VocabSize, c.MaxPositionEmbeddings)
		fmt.Fprintf(t, "attention\t%d query heads on %d key/value heads of width %d\n", c.NumAttentionHeads, c.NumKeyValueHeads, c.HeadDim)
	}
	if c := s.vit; c != nil {
		writeViT(t, *c)
	}
	if l := s.Layout; l != nil {
		fmt.Fprintf(t, "head order\t%s (from %s)\n", l.HeadOrder, l.From.Heads)
		fmt.Fprintf(t, "rotary layout\t%s (from %s)\n", l.RopeLayout, l.From.Rotary)
	}
	fmt.Fprintf(t, "parameters\t%s in %d tensors, %s bytes\n", grouped(s.Parameters), len(s.Tensors), grouped(s.Bytes))
	for _, note := range s.Notes {
		fmt.Fprintf(t, "note\t%s\n", note)
	}
}

func writeViT(w io.Writer, c vit.Config) {
	fmt.Fprintf(w, "images\t%d channels of %v, %v patches of %v\n", c.NumChannels, c.ImageSize, c.Grid(), c.PatchSize)
	fmt.Fprintf(w, "sizes\t%d layers of width %d, MLP %d\n", c.NumHiddenLayers, c.HiddenSize, c.IntermediateSize)
	fmt.Fprintf(w, "attention\t%d query heads on %d key/value heads of width %d\n", c.NumAttentionHeads, c.NumKeyValueHeads, c.HeadWidth())
	if c.Classes() == 0 {
		fmt.Fprintf(w, "classes\tnone: a bare model\n")
		return
	}
	const most = 10
	var names []string
	for _, name := range c.Labels[:min(c.Classes(), most)] {
		names = append(names, printable(name))
	}
	if c.Classes() > most {
		names = append(names, "...")
	}
	fmt.Fprintf(w, "classes\t%d: %s\n", c.Classes(), strings.Join(names, ", "))
}

func (s Summary) writeTensors(b *strings.Builder) {
	b.WriteByte('\n')
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	defer t.Flush()
	fmt.Fprintf(t, "tensor\tdtype\tshape\n")
	for _, info := range s.Tensors {
		fmt.Fprintf(t, "%s\t%s\t%s\n", printable(info.Name), info.DType, fmt.Sprint(info.Shape))
	}
}

// printable returns a name that cannot upset a terminal.
func printable(name string) string {
	if quoted := strconv.Quote(name); quoted != `"`+name+`"` {
		return quoted
	}
	return name
}

// grouped writes a number with commas: 1,234,567.
func grouped(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
