package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/doc"
	"io"
	"strings"
	"unicode/utf16"

	"github.com/dustin/go-humanize"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/samples/internal/declarations"
	"github.com/go-azsearch/azsearch/samples/internal/stage"
)

// page is where answers are shown.
type page struct {
	w     io.Writer
	color bool
}

// maxLine is how much of a text is shown, in characters.
const maxLine = 110

func (p *page) print(a answer) {
	if a.Fuzzy {
		fmt.Fprintf(p.w, "nothing matches %q; these are spelled alike\n", stage.Line(a.Words))
	}
	if len(a.Suggestions) > 0 {
		fmt.Fprintf(p.w, "did you mean %s?\n", strings.Join(lines(a.Suggestions), ", "))
	}
	if a.NoSuggestions != "" {
		fmt.Fprintf(p.w, "no suggestions: %s\n", stage.Line(a.NoSuggestions))
	}
	for i := range a.Results {
		p.printResult(&a.Results[i])
	}
	switch {
	case a.Count == 0:
		fmt.Fprintln(p.w, "nothing found")
	case len(a.Results) == 0:
		fmt.Fprintf(p.w, "%s found, on earlier pages\n", humanize.Comma(a.Count))
	default:
		fmt.Fprintf(p.w, "%d to %d of %s\n", a.First, a.First+len(a.Results)-1, humanize.Comma(a.Count))
		p.printFacet("kinds", a.Kinds)
		p.printFacet("packages", a.Packages)
	}
}

// printCompletions shows what complete has returned.
func (p *page) printCompletions(texts []string, err error) error {
	if err == nil {
		fmt.Fprintln(p.w, strings.Join(lines(texts), "  "))
	}
	return err
}

func (p *page) printResult(r *models.SearchResult[declarations.Declaration]) {
	d := &r.Document
	fmt.Fprintf(p.w, "%s  %s  %s\n", p.paint(marked(r.Highlights["name"], d.Name)), p.faint(d.Package), p.faint(fmt.Sprintf("%s:%d", d.File, d.Line)))
	fmt.Fprintf(p.w, "    %s\n", p.paint(marked(r.Highlights["signature"], d.Signature)))
	text := new(doc.Package).Synopsis(d.Doc)
	if fragments := r.Highlights["doc"]; len(fragments) > 0 {
		text = fragments[0]
	}
	if text != "" {
		fmt.Fprintf(p.w, "    %s\n", p.paint(text))
	}
}

func (p *page) printFacet(label string, values []models.ValueFacet[string]) {
	fmt.Fprintf(p.w, "%-9s", label)
	for i, v := range values {
		if i > 0 {
			fmt.Fprint(p.w, ",")
		}
		fmt.Fprintf(p.w, " %s %s", stage.Line(v.Value), humanize.Comma(v.Count))
	}
	fmt.Fprintln(p.w)
}

// printJSON writes the answer as one line. What is harmful to a terminal is escaped
// in it and not lost.
func (p *page) printJSON(a answer) error {
	a.Results = append([]models.SearchResult[declarations.Declaration]{}, a.Results...) // [] and not null
	for i := range a.Results {
		for _, fragments := range a.Results[i].Highlights {
			for j, f := range fragments {
				fragments[j] = strings.NewReplacer(markStart, "<em>", markEnd, "</em>").Replace(f)
			}
		}
	}
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(a); err != nil {
		return err
	}
	var escaped strings.Builder
	for _, r := range line.String() {
		if !stage.Harmful(r) || r == '\n' {
			escaped.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&escaped, "\\u%04x", unit)
		}
	}
	_, err := io.WriteString(p.w, escaped.String())
	return err
}

// The sequences that terminals understand.
const (
	bold   = "\x1b[1;33m"
	dim    = "\x1b[2m"
	normal = "\x1b[0m"
)

// paint returns a text on one line, not too long, with the marks in color or
// gone.
func (p *page) paint(text string) string {
	var b strings.Builder
	room, open := maxLine, false
	for _, r := range stage.Line(text) {
		switch {
		case string(r) == markStart || string(r) == markEnd:
			open = string(r) == markStart
			if p.color && open {
				b.WriteString(bold)
			} else if p.color {
				b.WriteString(normal)
			}
			continue
		case room == 0:
			b.WriteRune('…')
			if p.color && open {
				b.WriteString(normal)
			}
			return b.String()
		}
		b.WriteRune(r)
		room--
	}
	return b.String()
}

func (p *page) faint(text string) string {
	if text = stage.Line(text); !p.color {
		return text
	}
	return dim + text + normal
}

// lines makes a line of each text.
func lines(texts []string) []string {
	var clean []string
	for _, t := range texts {
		clean = append(clean, stage.Line(t))
	}
	return clean
}

// marked returns a whole field with its matches marked: the highlight, if that is
// not a mere piece of it.
func marked(fragments []string, field string) string {
	if len(fragments) == 1 && strings.NewReplacer(markStart, "", markEnd, "").Replace(fragments[0]) == field {
		return fragments[0]
	}
	return field
}
