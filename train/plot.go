package train

import (
	"encoding/json"
	"errors"
	"image/color"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/stria-ml/stria/internal/atomicfile"
)

const plotFile = "loss.svg"

// curves are what metrics.jsonl holds, ready to be drawn.
type curves struct {
	train    plotter.XYs
	heldOut  plotter.XYs
	accuracy plotter.XYs
	skipped  plotter.XYs
}

// Plot draws the metrics to loss.svg. A run without any draws nothing.
func (r *Run) Plot() error {
	c, err := readCurves(filepath.Join(r.dir, metricsFile))
	if err != nil || len(c.train)+len(c.heldOut) == 0 {
		return err
	}
	p, err := c.plot()
	if err != nil {
		return err
	}
	return writeSVG(filepath.Join(r.dir, plotFile), p, 20*vg.Centimeter, 12*vg.Centimeter)
}

// writeSVG draws a plot to a file, with a margin.
func writeSVG(path string, p *plot.Plot, width, height vg.Length) error {
	canvas := vgsvg.New(width, height)
	margin := vg.Centimeter / 2
	p.Draw(draw.Crop(draw.New(canvas), margin, -margin, margin, -margin))
	return atomicfile.Write(path, func(w io.Writer) error {
		_, err := canvas.WriteTo(w)
		return err
	})
}

// readCurves reads the metrics; values that were not finite are left out.
func readCurves(path string) (curves, error) {
	var c curves
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, err
	}
	defer f.Close()
	err = eachLine(f, func(line string) error {
		var m metric
		if json.Unmarshal([]byte(line), &m) != nil || m.Step == nil {
			return nil
		}
		step := float64(*m.Step)
		add(&c.train, step, m.Loss)
		add(&c.heldOut, step, m.ValLoss)
		add(&c.accuracy, step, m.Accuracy)
		if m.Skipped {
			c.skipped = append(c.skipped, plotter.XY{X: step})
		}
		return nil
	})
	return c, err
}

func add(points *plotter.XYs, step float64, value *float64) {
	if value != nil {
		*points = append(*points, plotter.XY{X: step, Y: *value})
	}
}

// plot lays the curves out: losses as lines, evaluations as marks on theirs,
// skipped steps as crosses on the axis.
func (c curves) plot() (*plot.Plot, error) {
	p := plot.New()
	p.X.Label.Text = "step"
	p.Y.Label.Text = "loss (nats)"
	useSans(p)
	p.Legend.Top, p.Legend.ThumbnailWidth, p.Legend.Padding = true, vg.Centimeter, vg.Millimeter
	p.Add(plotter.NewGrid())
	for _, curve := range [...]struct {
		name   string
		points plotter.XYs
		color  color.Color
		marks  bool
	}{
		{"training loss", c.train, color.RGBA{R: 0x88, G: 0xaa, B: 0xdd, A: 0xff}, false},
		{"held-out loss", c.heldOut, color.RGBA{R: 0xcc, G: 0x44, B: 0x22, A: 0xff}, true},
		{"accuracy (share)", c.accuracy, color.RGBA{R: 0x22, G: 0x88, B: 0x44, A: 0xff}, true},
	} {
		if len(curve.points) == 0 {
			continue
		}
		line, marks, err := plotter.NewLinePoints(curve.points)
		if err != nil {
			return nil, err
		}
		line.Color, marks.Color, marks.Shape = curve.color, curve.color, draw.CircleGlyph{}
		p.Add(line)
		p.Legend.Add(curve.name, line)
		if curve.marks {
			p.Add(marks)
		}
	}
	err := c.addSkipped(p)
	p.X.Min, p.Y.Min = 0, 0
	p.Y.Max *= 1.05 // the first point stays clear of the frame
	return p, err
}

// useSans sets a font that is as wide as Arial, which viewers have.
func useSans(p *plot.Plot) {
	for _, style := range [...]*text.Style{
		&p.Title.TextStyle, &p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label, &p.Legend.TextStyle,
	} {
		style.Font.Variant = "Sans"
	}
}

func (c curves) addSkipped(p *plot.Plot) error {
	if len(c.skipped) == 0 {
		return nil
	}
	marks, err := plotter.NewScatter(c.skipped)
	if err != nil {
		return err
	}
	marks.Shape = draw.CrossGlyph{}
	p.Add(marks)
	p.Legend.Add("skipped steps", marks)
	return nil
}
