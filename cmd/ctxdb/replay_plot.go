package main

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"ctxdb/cache/replay"
)

const (
	plotPoints = 16 // budgets of a curve
	plotWidth  = 18 * vg.Centimeter
	plotHeight = 12 * vg.Centimeter
)

// curveColors can be told apart by everybody: Okabe and Ito, "Color Universal Design", 2008.
var curveColors = []color.Color{
	color.RGBA{R: 0xd5, G: 0x5e, A: 0xff}, color.RGBA{G: 0x72, B: 0xb2, A: 0xff}, color.RGBA{G: 0x9e, B: 0x73, A: 0xff},
	color.RGBA{R: 0xcc, G: 0x79, B: 0xa7, A: 0xff}, color.RGBA{R: 0xe6, G: 0x9f, A: 0xff}, color.RGBA{R: 0x56, G: 0xb4, B: 0xe9, A: 0xff},
}

// plotFormat goes by the name; "": none that is known.
func plotFormat(path string) string {
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".svg", ".png":
		return ext[1:]
	}
	return ""
}

// drawCurve draws the share of references that fault over the budget.
func drawCurve(w io.Writer, c *replay.Curve, format string) error {
	p := plot.New()
	p.Title.Text = c.Trace
	p.X.Label.Text, p.Y.Label.Text = "budget, tokens", "faults, % of references"
	if last := len(c.Budgets) - 1; last > 0 && c.Budgets[0] < c.Budgets[last] {
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, budgetTicks{}
	}
	p.Y.Min = 0
	p.Legend.Top, p.Legend.XOffs, p.Legend.Padding = true, -vg.Millimeter, vg.Millimeter
	p.Legend.TextStyle.Font.Size = vg.Points(10)
	p.Add(plotter.NewGrid())
	for i, row := range c.Rows {
		points := make(plotter.XYs, len(row.Points))
		for k, at := range row.Points {
			points[k] = plotter.XY{X: float64(at.Budget), Y: 100 * at.ObjectMissRatio}
		}
		line, err := plotter.NewLine(points)
		if err != nil {
			return fmt.Errorf("%s: %w", row.Name, err)
		}
		line.Color, line.Width = curveColors[i%len(curveColors)], vg.Points(1.2)
		switch row.Name {
		case replay.RowBelady:
			line.Color, line.Dashes = color.Black, plotutil.Dashes(1)
		case replay.RowBound:
			line.Color = color.Black
		}
		p.Add(line)
		p.Legend.Add(row.Name, line)
	}
	return writePlot(w, p, format)
}

func writePlot(w io.Writer, p *plot.Plot, format string) error {
	if format == "svg" {
		c := vgsvg.New(plotWidth, plotHeight)
		p.Draw(draw.New(c))
		_, err := c.WriteTo(w)
		return err
	}
	c := vgimg.PngCanvas{Canvas: vgimg.New(plotWidth, plotHeight)}
	p.Draw(draw.New(c))
	_, err := c.WriteTo(w)
	return err
}

// budgetTicks are at 1, 2 and 5 times the powers of ten.
type budgetTicks struct{}

func (budgetTicks) Ticks(low, high float64) (all []plot.Tick) {
	for power := math.Pow(10, math.Floor(math.Log10(low))); power <= high; power *= 10 {
		for _, m := range []float64{1, 2, 5} {
			if at := m * power; at >= low && at <= high {
				all = append(all, plot.Tick{Value: at, Label: count(int64(at))})
			}
		}
	}
	return all
}
