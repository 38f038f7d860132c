// Package table prints documents as a table, one row each.
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

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/amount"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/listing"
	"github.com/go-azsearch/azsearch/internal/wire"
)

// mostColumns limits the columns if none are selected, mostText the characters of every cell.
const (
	mostColumns = 8
	mostText    = 40
)

// Documents prints documents with one column per name in columns, or for the first eight members if columns is
// empty. It returns the names of the members without a column.
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

// at returns the value at a path such as address/city, nil if there is none.
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

// cell returns a value as text: strings without quotes, a long array of numbers as its length.
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
		return "[" + amount.Of(len(numbers), "number") + "]"
	case json.Compact(&compact, value) == nil:
		return compact.String()
	}
	return string(value)
}

// Table aligns rows of text.
type Table struct{ *tabwriter.Writer }

// New returns a table that is printed by Flush.
func New(w io.Writer) Table { return Table{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)} }

// Row adds a row. It escapes unprintable characters in the cells.
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
