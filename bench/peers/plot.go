package main

import (
	"fmt"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// drawn figures, a panel each.
var drawn = []column{
	{head: "durable append, p50, us", figure: "append_p50_us", scale: 1},
	{head: "64 writers, appends/s", figure: "writers64_per_s", scale: 1},
	{head: "bulk import, s", figure: "import_s", scale: 1},
	{head: "file, MB", figure: "file_bytes", scale: 1e-6},
	{head: "warm fault, p50, us", figure: "any_fault_p50_us", scale: 1},
	{head: "key look-up, p50, us", figure: "lookup_p50_us", scale: 1},
	{head: "cold fault, p50, us", figure: "cold_p50_us", scale: 1},
	{head: "open, ms", figure: "open_us", scale: 1e-3},
	{head: "import, peak MiB", figure: "import_peak_mib", scale: 1},
}

const (
	panelColumns = 3
	panelWidth   = 9 * vg.Centimeter
	panelHeight  = 6 * vg.Centimeter
)

// draw puts the figures into a file, a panel each, on logarithmic scales.
func draw(path string, r *report) error {
	var panels []*plot.Plot
	for _, c := range drawn {
		p, err := panel(c, r)
		if err != nil {
			return err
		}
		if p != nil {
			panels = append(panels, p)
		}
	}
	rows := (len(panels) + panelColumns - 1) / panelColumns
	if rows == 0 {
		return fmt.Errorf("%s: nothing to draw", path)
	}
	width, height := panelColumns*panelWidth, vg.Length(rows)*panelHeight
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	switch filepath.Ext(path) {
	case ".svg":
		c := vgsvg.New(width, height)
		drawPanels(vgdraw.New(c), panels, rows)
		_, err = c.WriteTo(f)
	case ".png":
		c := vgimg.PngCanvas{Canvas: vgimg.New(width, height)}
		drawPanels(vgdraw.New(c), panels, rows)
		_, err = c.WriteTo(f)
	default:
		err = fmt.Errorf("%s: only .svg and .png can be drawn", path)
	}
	return err
}

func drawPanels(c vgdraw.Canvas, panels []*plot.Plot, rows int) {
	tiles := vgdraw.Tiles{Rows: rows, Cols: panelColumns, PadX: vg.Points(14), PadY: vg.Points(8), PadTop: vg.Points(6), PadBottom: vg.Points(6), PadLeft: vg.Points(12), PadRight: vg.Points(12)}
	for i, p := range panels {
		p.Draw(tiles.At(c, i%panelColumns, i/panelColumns))
	}
}

// ctxdb in one colour, the others in another: Okabe and Ito, "Color Universal Design", 2008.
var ownColor, peerColor = color.RGBA{R: 0xd5, G: 0x5e, A: 0xff}, color.RGBA{G: 0x72, B: 0xb2, A: 0xff}

// panel of horizontal bars; nil: nobody has that figure.
func panel(c column, r *report) (*plot.Plot, error) {
	var names []string
	var values []float64
	for _, p := range slices.Backward(r.Peers) {
		if v, ok := p.Figures[c.figure]; ok && v > 0 {
			names, values = append(names, p.Name), append(values, v*c.scale)
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	p := plot.New()
	p.Title.Text = c.head
	low := math.Pow(10, math.Floor(math.Log10(slices.Min(values)))-.3)
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	p.X.Min, p.X.Max = low, slices.Max(values)*1.5
	for i, v := range values {
		bar, err := plotter.NewPolygon(plotter.XYs{{X: low, Y: float64(i) - .35}, {X: v, Y: float64(i) - .35}, {X: v, Y: float64(i) + .35}, {X: low, Y: float64(i) + .35}})
		if err != nil {
			return nil, err
		}
		bar.Color, bar.LineStyle.Width = peerColor, 0
		switch {
		case names[i] == ctxdbPeer.name:
			bar.Color = ownColor
		case strings.HasPrefix(names[i], "floor"):
			bar.Color = color.Gray{Y: 0xa0}
		}
		p.Add(bar)
	}
	p.NominalY(names...)
	p.Y.Tick.Label.Font.Size = vg.Points(8)
	return p, nil
}
