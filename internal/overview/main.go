// Overview draws the picture in README.md from the boxes of overview.txt, for a light and for a dark page. Run it
// after a change of overview.txt.
//
//	go run ./internal/overview        # from the root: writes .github/overview.svg and .github/overview-dark.svg
package main

import (
	_ "embed"
	"fmt"
	"os"
	"strconv"
	"strings"
)

//go:embed overview.txt
var text string

// box is a box of the picture.
type box struct {
	column               int
	title, about, folder string
	x, y, w, h           int
}

// themes are the colors of each file: text, secondary text, lines, boxes, the box of the sender.
var themes = map[string][5]string{
	".github/overview.svg":      {"#1f2328", "#59636e", "#818b98", "#f6f8fa", "#ddf4ff"},
	".github/overview-dark.svg": {"#f0f6fc", "#9198a1", "#656c76", "#151b23", "#0c2d6b"},
}

func main() {
	boxes, err := parse(text)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for name, colors := range themes {
		if err := os.WriteFile(name, []byte(draw(boxes, colors)), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

const (
	width, height = 860, 330
	margin, gap   = 10, 12
)

// parse returns the boxes of a description with their positions. The boxes of a column share its height.
func parse(text string) (boxes []box, err error) {
	inColumn := [3]int{}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(strings.TrimSpace(line), " | ")
		if len(f) != 4 {
			return nil, fmt.Errorf("overview.txt: got %q, want column | title | about | folder", line)
		}
		column, err := strconv.Atoi(f[0])
		if err != nil || column < 0 || column > 2 {
			return nil, fmt.Errorf("overview.txt: got column %q, want 0, 1 or 2", f[0])
		}
		inColumn[column]++
		boxes = append(boxes, box{column: column, title: f[1], about: f[2], folder: f[3]})
	}
	seen := [3]int{}
	for i := range boxes {
		b := &boxes[i]
		b.w, b.h = 230, 52
		if b.column == 1 {
			b.h = 120
		}
		share := (height - 2*margin) / inColumn[b.column]
		b.x = margin + b.column*305
		b.y = margin + seen[b.column]*share + (share-b.h)/2
		seen[b.column]++
	}
	return boxes, nil
}

// draw returns the picture as SVG.
func draw(boxes []box, colors [5]string) string {
	var s strings.Builder
	fmt.Fprintf(&s, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="system-ui, sans-serif" font-size="13">`+"\n", width, height, width, height)
	fmt.Fprintf(&s, `<defs><marker id="a" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="6" markerHeight="6" orient="auto"><path d="M0 0L8 4L0 8z" fill="%s"/></marker></defs>`+"\n", colors[2])
	for _, from := range boxes {
		for _, to := range boxes {
			if to.column == from.column+1 {
				x1, y1, x2, y2 := from.x+from.w, from.y+from.h/2, to.x, to.y+to.h/2
				if to.column == 1 { // spread the arrows
					y2 = to.y + gap + (from.y*(to.h-2*gap))/height
				}
				fmt.Fprintf(&s, `<path d="M%d %dC%d %d %d %d %d %d" fill="none" stroke="%s" stroke-width="1.5" marker-end="url(#a)"/>`+"\n", x1, y1, x1+40, y1, x2-40, y2, x2, y2, colors[2])
			}
		}
	}
	for _, b := range boxes {
		fill := colors[3]
		if b.column == 1 {
			fill = colors[4]
		}
		fmt.Fprintf(&s, `<rect x="%d" y="%d" width="%d" height="%d" rx="6" fill="%s" stroke="%s"/>`+"\n", b.x, b.y, b.w, b.h, fill, colors[2])
		lines := wrap(b.about, 32)
		y := b.y + (b.h-18*(len(lines)+1))/2 + 14
		label(&s, b, y, ` font-weight="600"`, colors[0], b.title)
		for i, line := range lines {
			label(&s, b, y+18*(i+1), "", colors[1], line)
		}
	}
	s.WriteString("</svg>\n")
	return s.String()
}

func label(s *strings.Builder, b box, y int, attributes, color, text string) {
	fmt.Fprintf(s, `<text x="%d" y="%d" text-anchor="middle"%s fill="%s">%s</text>`+"\n", b.x+b.w/2, y, attributes, color, text)
}

// wrap returns the lines of a text, each of at most n bytes.
func wrap(text string, n int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > n {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return append(lines, line)
}
