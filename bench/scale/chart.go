package scale

import (
	"bytes"
	"errors"
	"image/color"
	"os"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

const (
	panelWidth  = 3.6 * vg.Inch
	panelHeight = 3.2 * vg.Inch
	panelMargin = 12 // points
)

// colors are the line colors: blue and vermilion of Okabe and Ito, which are distinct also for color-blind readers.
var (
	colors = []color.Color{color.RGBA{R: 0, G: 114, B: 178, A: 255}, color.RGBA{R: 213, G: 94, B: 0, A: 255}}
	grey   = color.Gray{Y: 130}
	pale   = color.Gray{Y: 215}
)

var errNoChart = errors.New("no measurement fits a chart")

// draw writes the chart with a panel for each quantity.
func (r *report) draw(file string) error {
	var panels []*plot.Plot
	for _, panel := range []func() (*plot.Plot, error){r.ratePanel, r.cpuPanel, r.memoryPanel} {
		p, err := panel()
		if err != nil {
			return err
		}
		if p != nil {
			panels = append(panels, p)
		}
	}
	if panels == nil {
		return errNoChart
	}
	canvas := vgsvg.New(panelWidth*vg.Length(len(panels)), panelHeight)
	all := draw.New(canvas)
	all.FillPolygon(color.White, []vg.Point{all.Min, {X: all.Max.X, Y: all.Min.Y}, all.Max, {X: all.Min.X, Y: all.Max.Y}})
	tiles := draw.Tiles{
		Rows: 1, Cols: len(panels), PadX: 2 * panelMargin,
		PadTop: panelMargin, PadBottom: panelMargin, PadLeft: panelMargin, PadRight: panelMargin,
	}
	for i, p := range panels {
		p.Draw(tiles.At(all, i, 0))
	}
	var svg bytes.Buffer
	if _, err := canvas.WriteTo(&svg); err != nil {
		return err
	}
	// Liberation Sans and Arial have the same widths. Where neither is installed, any other sans serif looks better
	// than the browser's default.
	portable := bytes.ReplaceAll(svg.Bytes(), []byte("font-family:Liberation Sans;"), []byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif;"))
	return os.WriteFile(file, portable, 0o644)
}

// newPanel returns a panel without lines.
func newPanel(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.Padding, p.X.Label.Padding, p.Y.Label.Padding = 8, 4, 4
	sans := func(size font.Length) font.Font {
		return font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
	}
	p.Title.TextStyle.Font = sans(13)
	for _, label := range []*font.Font{&p.X.Label.TextStyle.Font, &p.Y.Label.TextStyle.Font, &p.Legend.TextStyle.Font} {
		*label = sans(12)
	}
	for _, tick := range []*font.Font{&p.X.Tick.Label.Font, &p.Y.Tick.Label.Font} {
		*tick = sans(11)
	}
	p.Legend.Top, p.Legend.Left = true, true
	p.Legend.Padding, p.Legend.ThumbnailWidth = 4, 22
	p.Legend.XOffs, p.Legend.YOffs = 8, -2
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = pale, pale
	p.Add(grid)
	return p
}

// addLine adds a line to a panel and its legend. number selects the color.
func addLine(p *plot.Plot, name string, number int, points plotter.XYs) error {
	line, dots, err := plotter.NewLinePoints(points)
	if err != nil {
		return err
	}
	line.Width, line.Color = 2, colors[number%len(colors)]
	dots.Shape, dots.Radius, dots.Color = draw.CircleGlyph{}, 3, line.Color
	p.Add(line, dots)
	p.Legend.Add(name, line, dots)
	return nil
}

// addReference adds a reference line for comparison.
func addReference(p *plot.Plot, name string, points plotter.XYs) error {
	line, err := plotter.NewLine(points)
	if err != nil {
		return err
	}
	line.Width, line.Color, line.Dashes = 1.5, grey, []vg.Length{5, 4}
	p.Add(line)
	p.Legend.Add(name, line)
	return nil
}
