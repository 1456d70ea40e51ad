package train

import (
	"fmt"
	"image/color"
	"math"
	"path/filepath"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"

	"github.com/stria-ml/stria/internal/plaintext"
)

// names of the files that show a confusion matrix.
const (
	confusionPlotFile = "confusion.svg"
	confusionFile     = "confusion.json"
)

// figures is what confusion.json holds.
type figures struct {
	Data     string `json:"data"`
	Loss     number `json:"loss"`
	Accuracy number `json:"accuracy"`
	Exact    int    `json:"exact"`
	Count    int    `json:"count"`
	confusionLine
}

// WriteFigures writes an evaluation's confusion matrix to a folder that exists, as
// confusion.svg and confusion.json. data names what was measured.
func (e Evaluation) WriteFigures(dir, data string) error {
	if e.Confusion == nil {
		return fmt.Errorf("%s: there is no confusion to draw: it is counted of up to %d classes", dir, mostConfused)
	}
	if err := writeJSON(filepath.Join(dir, confusionFile), figures{data, number(e.Loss), number(e.Accuracy), e.Exact, e.Count, e.Confusion.line()}); err != nil {
		return err
	}
	p, err := e.Confusion.plot(fmt.Sprintf("%s: %.2f %% of %d right", plaintext.Of(data), 100*e.Accuracy, e.Count))
	if err != nil {
		return err
	}
	side := vg.Length(min(max(len(e.Confusion.Classes), 8), 60)) * vg.Centimeter
	return writeSVG(filepath.Join(dir, confusionPlotFile), p, side+6*vg.Centimeter, side+5*vg.Centimeter)
}

// A matrix of more classes than these is drawn without numbers, or names.
const (
	mostNumbered = 24
	mostNamed    = 60
)

// plot draws a cell for each pair of classes, as dark as its share of the true
// class. The first class is at the top left.
func (c *Confusion) plot(title string) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, "answer", "true class"
	useSans(p)
	p.Add(plotter.NewHeatMap(cells{c}, shades{}))
	if len(c.Classes) <= mostNumbered {
		numbers, err := c.numbers()
		if err != nil {
			return nil, err
		}
		p.Add(numbers)
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = c.ticks(false), c.ticks(true)
	p.X.Tick.Label.Rotation = math.Pi / 2
	p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = text.XRight, text.YCenter
	for _, axis := range [...]*plot.Axis{&p.X, &p.Y} { // no lines, but the distance that ticks make
		axis.LineStyle.Width, axis.Tick.Length, axis.Tick.LineStyle.Color = 0, 3*vg.Millimeter, color.White
	}
	return p, nil
}

// ticks names the classes along an axis.
func (c *Confusion) ticks(upwards bool) plot.ConstantTicks {
	var ticks plot.ConstantTicks
	for i, name := range c.Classes {
		if len(c.Classes) > mostNamed {
			break
		}
		at := i
		if upwards {
			at = len(c.Classes) - 1 - i
		}
		ticks = append(ticks, plot.Tick{Value: float64(at), Label: plaintext.Of(name)})
	}
	return ticks
}

// numbers writes the counts that are not 0 into their cells.
func (c *Confusion) numbers() (*plotter.Labels, error) {
	var list plotter.XYLabels
	for t, row := range c.Counts {
		for p, n := range row {
			if n > 0 {
				list.XYs = append(list.XYs, plotter.XY{X: float64(p), Y: float64(len(c.Classes) - 1 - t)})
				list.Labels = append(list.Labels, fmt.Sprint(n))
			}
		}
	}
	labels, err := plotter.NewLabels(list)
	if err != nil {
		return nil, err
	}
	for i := range labels.TextStyle {
		style := &labels.TextStyle[i]
		style.Font.Variant = "Sans"
		style.XAlign, style.YAlign = text.XCenter, text.YCenter
		if at := list.XYs[i]; (cells{c}).Z(int(at.X), int(at.Y)) > 0.5 {
			style.Color = color.White
		}
	}
	return labels, nil
}

// cells is the matrix as plotter reads it: each row's shares, the first at the
// top.
type cells struct{ *Confusion }

func (c cells) Dims() (columns, rows int) { return len(c.Classes), len(c.Classes) }
func (c cells) X(column int) float64      { return float64(column) }
func (c cells) Y(row int) float64         { return float64(row) }

// Z returns not a number, which is not drawn, for none.
func (c cells) Z(column, row int) float64 {
	t := len(c.Classes) - 1 - row
	count, _ := c.Of(t)
	if n := c.Counts[t][column]; n > 0 {
		return float64(n) / float64(count)
	}
	return math.NaN()
}

func (c cells) Min() float64 { return 0 }
func (c cells) Max() float64 { return 1 }

// shades go from nearly white to blue; what is small shows nevertheless.
type shades struct{}

func (shades) Colors() []color.Color {
	const n = 128
	list := make([]color.Color, n)
	for i := range list {
		f := math.Sqrt(float64(i) / (n - 1))
		list[i] = color.RGBA{R: uint8(255 - 225*f), G: uint8(255 - 175*f), B: uint8(255 - 95*f), A: 255}
	}
	return list
}
