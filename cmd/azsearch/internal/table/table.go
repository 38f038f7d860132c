// Package table is for commands that show documents to people: a row for each, in columns as wide as a terminal bears.
package table

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/listing"
	"github.com/go-azsearch/azsearch/internal/wire"
)

// The most that is shown of what nobody has chosen: columns, and characters of a cell.
const (
	mostColumns = 8
	mostText    = 40
)

// Documents prints documents, with a column for each of their members: of those named in columns if there are any,
// else of the first eight. It returns the names of the members that it leaves out.
func Documents(w io.Writer, documents []json.RawMessage, columns []string) (left []string, err error) {
	rows := make([]map[string]json.RawMessage, len(documents))
	var names []string
	for i, d := range documents {
		if err := json.Unmarshal(d, &rows[i]); err != nil {
			return nil, err
		}
		err := wire.EachMember(d, func(quoted, _ []byte) bool {
			if name, ok := wire.Unquote(quoted); ok && !slices.Contains(names, name) {
				names = append(names, name)
			}
			return true
		})
		if err != nil {
			return nil, err
		}
	}
	if len(columns) > 0 {
		names = columns
	} else if len(names) > mostColumns {
		names, left = names[:mostColumns], names[mostColumns:]
	}
	t := New(w)
	t.Row(names...)
	for _, row := range rows {
		cells := make([]string, len(names))
		for i, name := range names {
			if cells[i] = cell(at(row, name)); utf8.RuneCountInString(cells[i]) > mostText {
				cells[i] = string([]rune(cells[i])[:mostText-1]) + "…"
			}
		}
		t.Row(cells...)
	}
	return left, t.Flush()
}

// at returns the value at a path such as address/city.
func at(row map[string]json.RawMessage, path string) json.RawMessage {
	if value, ok := row[path]; ok {
		return value
	}
	name, rest, ok := strings.Cut(path, "/")
	var inner map[string]json.RawMessage
	if !ok || json.Unmarshal(row[name], &inner) != nil {
		return nil
	}
	return at(inner, rest)
}

// cell returns a value as text: strings without quotes, a long list of numbers as its length.
func cell(value json.RawMessage) string {
	var text string
	var numbers []json.Number
	var compact bytes.Buffer
	switch {
	case len(value) == 0 || string(value) == "null":
		return ""
	case value[0] == '"' && json.Unmarshal(value, &text) == nil:
		return text
	case value[0] == '[' && len(value) > mostText && json.Unmarshal(value, &numbers) == nil && value[1] != '"':
		return fmt.Sprintf("[%d numbers]", len(numbers))
	case json.Compact(&compact, value) == nil:
		return compact.String()
	}
	return string(value)
}

// Table aligns rows of text.
type Table struct{ *tabwriter.Writer }

// New returns a table that Flush prints.
func New(w io.Writer) Table { return Table{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)} }

// Row adds a row. Its cells are printed in a form that cannot change what a terminal shows around them.
func (t Table) Row(cells ...string) {
	for i, c := range cells {
		c = listing.Printable(c)
		if i < len(cells)-1 {
			c += "\t"
		}
		fmt.Fprint(t, c)
	}
	fmt.Fprintln(t)
}
