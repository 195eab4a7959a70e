package main

import (
	"fmt"
	"html"
	"io"
	"math"
)

// The plot is 640 by 420 with a frame inside; shares are on a logarithmic axis.
const (
	plotLeft, plotTop     = 60, 20
	plotWidth, plotHeight = 380, 350
)

func plotX(share float64) float64 {
	first, last := math.Log(budgets[0]), math.Log(budgets[len(budgets)-1])
	return plotLeft + plotWidth*(math.Log(share)-first)/(last-first)
}

func plotY(recall float64) float64 { return plotTop + plotHeight*(1-recall) }

// writePlot draws recall over the share of tokens as SVG.
func writePlot(w io.Writer, title string, results []result) error {
	p := &printer{w: w}
	p.f(`<svg xmlns="http://www.w3.org/2000/svg" width="700" height="420" font-family="sans-serif" font-size="11">` + "\n")
	p.f(`<rect width="700" height="420" fill="white"/><text x="%d" y="14" font-size="12">%s</text>`+"\n", plotLeft, html.EscapeString(title))
	for i := range 11 {
		y := plotY(float64(i) / 10)
		p.f(`<path d="M%d %.1f h%d" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end">%.1f</text>`+"\n", plotLeft, y, plotWidth, plotLeft-6, y+4, float64(i)/10)
	}
	for _, share := range budgets {
		p.f(`<text x="%.1f" y="%d" text-anchor="middle">%.0f %%</text>`+"\n", plotX(share), plotTop+plotHeight+16, 100*share)
	}
	p.f(`<text x="%d" y="%d" text-anchor="middle">share of the conversation's tokens</text>`+"\n", plotLeft+plotWidth/2, plotTop+plotHeight+34)
	for i, r := range results {
		colour := fmt.Sprintf("hsl(%d,70%%,42%%)", 360*i/len(results))
		p.f(`<polyline fill="none" stroke="%s" stroke-width="1.6" points="`, colour)
		for j, share := range budgets {
			p.f("%.1f,%.1f ", plotX(share), plotY(r.all.recall[j]/float64(max(1, r.all.questions))))
		}
		p.f(`"/><text x="%d" y="%d" fill="%s">%s</text>`+"\n", plotLeft+plotWidth+14, plotTop+14+15*i, colour, html.EscapeString(r.name))
	}
	p.f("</svg>\n")
	return p.err
}

// printer keeps the first error.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) f(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}
