package convert

import (
	"fmt"
	"unicode/utf8"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/amount"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/shell"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/source/csvtext"
)

// Columns maps the columns of a CSV or TSV file to fields.
type Columns struct {
	Names   []string
	targets []target
}

// Columns assigns a field to each column. The error names the first column without a field, or a field with two
// columns.
func (p *Plan) Columns(names []string) (*Columns, error) {
	c := &Columns{Names: names}
	fields := map[int]string{}
	for _, name := range names {
		t, known := p.target([]byte(name))
		if !known {
			return nil, fmt.Errorf("column %q: the index has no such field; -map %s renames it, -map %s leaves it out", name, shell.Word(name+"=FIELD"), shell.Word(name+"="))
		}
		if t.field >= 0 {
			if other, twice := fields[t.field]; twice {
				return nil, fmt.Errorf("columns %q and %q are both for field %s", other, name, p.top.fields[t.field].name)
			}
			fields[t.field] = name
		}
		c.targets = append(c.targets, t)
	}
	return c, nil
}

// Cells converts a row, and appends the document to dst. An empty cell becomes null; a quoted empty cell of a string
// field becomes "".
func (c *Converter) Cells(dst []byte, columns *Columns, cells []csvtext.Cell) (Document, *Problem) {
	c.begin()
	if len(cells) != len(columns.targets) {
		return Document{}, &Problem{Kind: KindColumns, Message: fmt.Sprintf("%s, and the header has %d", amount.Of(len(cells), "cell"), len(columns.targets))}
	}
	start := len(dst)
	dst = append(dst, '{')
	for i := range cells {
		var problem *Problem
		if dst, problem = c.cell(dst, start, columns, i, &cells[i]); problem != nil {
			problem.Column = columns.Names[i]
			problem.At = cells[i].At
			return Document{}, problem
		}
	}
	return c.end(dst, start)
}

func (c *Converter) cell(dst []byte, start int, columns *Columns, i int, cell *csvtext.Cell) ([]byte, *Problem) {
	t := columns.targets[i]
	if !utf8.Valid(cell.Text) {
		return dst, &Problem{Kind: KindUTF8, Message: "the text is not UTF-8"}
	}
	switch {
	case t.drop:
		return dst, nil
	case t.action:
		return dst, c.setAction(cell.Text)
	case t.key:
		if problem := c.setKey(string(cell.Text), true); problem != nil {
			return dst, problem
		}
	}
	if t.field < 0 {
		return dst, nil
	}
	f := &c.top.fields[t.field]
	if len(dst) > start+1 {
		dst = append(dst, ',')
	}
	dst = append(dst, f.open...)
	switch {
	case f.collection:
		return c.listOf(dst, f, cell.Text)
	case len(cell.Text) == 0 && (!cell.Quoted || f.kind != text):
		return append(dst, "null"...), nil
	case f.isKey && c.Key == "":
		if problem := c.setKey(string(cell.Text), false); problem != nil {
			return dst, problem
		}
	}
	return c.text(dst, f, cell.Text, cell.At)
}
