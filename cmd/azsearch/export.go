package main

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/amount"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/connect"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/definitions"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/exit"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/keyrange"
	"github.com/go-azsearch/azsearch/internal/disk"
	"github.com/go-azsearch/azsearch/internal/wire"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

func newExportCommand(stdout, stderr io.Writer) *cli.Command {
	return serviceCommand(stdout, stderr, cli.Command{
		Name:      "export",
		Usage:     "write the documents of an index as JSON Lines or CSV, ordered by key",
		ArgsUsage: "INDEX",
		Description: `All documents are written, also more than 100 000. In CSV, collections and objects are JSON in a cell.
The file of -o appears only when it is complete.

   azsearch export hotels > hotels.jsonl
   azsearch export -filter 'stars ge 3' -select id,name -o good.csv hotels
   azsearch export -select id,name -format csv hotels | head

Exit codes: 0 every document is written; 1 the file cannot be written; 2 usage; 3 service error; 130 interrupted.`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "filter", Usage: "write only documents that match the OData `EXPRESSION`"},
			&cli.StringFlag{Name: "select", Usage: "write these `FIELDS`, separated by commas, and the key; by default all retrievable fields"},
			&cli.StringFlag{Name: "o", Usage: "write to `FILE` instead of the standard output"},
			&cli.StringFlag{Name: "format", Usage: "write `FORMAT`: jsonl or csv; by default csv for a FILE named .csv, else jsonl"},
			&cli.BoolFlag{Name: "quiet", Usage: "print no progress"},
		},
	}, 1, 1, func(ctx context.Context, c *serviceCall) error {
		e := &exporting{serviceCall: c}
		switch format := strings.ToLower(c.String("format")); {
		case format == "csv", format == "" && strings.HasSuffix(strings.ToLower(c.String("o")), ".csv"):
			e.csv = true
		case format != "" && format != "jsonl":
			return fmt.Errorf("-format %q: use jsonl or csv", c.String("format"))
		}
		err := e.run(ctx)
		if err == nil && !e.Bool("quiet") {
			e.note("%s", e.written)
		}
		if err != nil && ctx.Err() != nil {
			return exit.With(exit.Interrupted, errors.New("interrupted: not all documents are written"))
		}
		return err
	})
}

// exporting is one run of the command.
type exporting struct {
	*serviceCall
	csv     bool
	written string // to be said when it is on the disk
}

func (e *exporting) run(ctx context.Context) error {
	path := e.String("o")
	if path != "" { // before the index is read
		if err := writable("-o", path); err != nil {
			return failed(err)
		}
	}
	var filter search.Filter
	fields := e.list("select")
	if slices.Contains(fields, "*") {
		fields = nil
	}
	if text := e.String("filter"); text != "" {
		filter = search.RawFilter(text)
	}
	x, definition, err := openIndex(ctx, e.service, e.args[0], filter, fields)
	if err != nil {
		return err
	}
	if err := reached(ctx, x, e.args[0]); err != nil {
		return err
	}
	x.ReadAhead = 8
	columns := fields
	switch {
	case fields == nil:
		if columns, err = retrievable(definition); err != nil {
			return err
		}
	case !slices.Contains(fields, x.Key()):
		columns = slices.Concat([]string{x.Key()}, fields)
	}
	if path == "" {
		w := bufio.NewWriterSize(e.stdout, 256<<10)
		return errors.Join(e.write(ctx, x, columns, w), failed(w.Flush()))
	}
	return e.replace(path, func(w *bufio.Writer) error { return e.write(ctx, x, columns, w) })
}

// replace writes the file of -o. A regular file appears when it is complete; a device or pipe is written as it is.
func (e *exporting) replace(path string, write func(*bufio.Writer) error) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // a symbolic link stays
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return failed(err)
		}
		w := bufio.NewWriterSize(file, 256<<10)
		return errors.Join(write(w), failed(w.Flush()), failed(file.Close()))
	}
	var wrote error
	err := disk.ReplaceBeside(disk.View(filepath.Dir(path)), filepath.Base(path), func(w *bufio.Writer) error {
		wrote = write(w)
		return wrote
	})
	if wrote != nil {
		return wrote
	}
	return failed(err)
}

// retrievable returns the names of the top-level fields whose values the service returns.
func retrievable(d *definitions.Definition) (names []string, err error) {
	fields, err := fieldsOf(d)
	for _, f := range fields {
		if returned(&f) {
			names = append(names, f.Name)
		}
	}
	return names, err
}

// fieldsOf returns the fields of the definition of an index.
func fieldsOf(d *definitions.Definition) ([]models.SearchField, error) {
	var index models.SearchIndex
	err := json.Unmarshal(d.JSON, &index)
	return index.Fields, err
}

// returned reports whether the service returns the values of a field.
func returned(f *models.SearchField) bool {
	return (f.Retrievable == nil || *f.Retrievable) && (f.Stored == nil || *f.Stored)
}

// write writes all documents of x to w, as JSON Lines or CSV.
func (e *exporting) write(ctx context.Context, x *keyrange.Index, columns []string, w *bufio.Writer) error {
	n, began := int64(0), time.Now()
	put := func(document json.RawMessage) error {
		if compact, ok := wire.Compact(nil, document); ok {
			document = compact
		}
		_, err := w.Write(append(document, '\n'))
		return err
	}
	if e.csv {
		out := csv.NewWriter(w)
		defer out.Flush()
		if err := out.Write(columns); err != nil {
			return failed(err)
		}
		row := make([]string, len(columns))
		put = func(document json.RawMessage) error {
			if err := cells(row, columns, document); err != nil {
				return err
			}
			return out.Write(row)
		}
	}
	for document, err := range x.Documents(keyrange.Whole(ctx), keyrange.Range{}) {
		if err != nil {
			return connect.Failed(err)
		}
		if err := put(document); err != nil {
			return failed(err)
		}
		n++
	}
	e.written = fmt.Sprintf("%s written in %v", amount.Of(n, "document"), time.Since(began).Round(time.Millisecond))
	return nil
}

// cells sets row to the values of columns in a document: a string as it is, null as "", anything else as JSON. A
// column such as address/city is the field of an object.
func cells(row, columns []string, document json.RawMessage) error {
	for i, path := range columns {
		value := document
		for name := range strings.SplitSeq(path, "/") {
			var found json.RawMessage
			if err := wire.EachMember(value, func(member, v []byte) bool {
				if wire.Quotes(member, name) {
					found = v
				}
				return true
			}); err != nil && len(value) > 0 && value[0] == '{' {
				return err
			}
			value = found
		}
		switch row[i] = string(value); {
		case string(value) == "null":
			row[i] = ""
		case len(value) > 0 && value[0] == '"':
			text, ok := wire.Unquote(value)
			if !ok {
				return fmt.Errorf("field %s of a document is not a JSON string: %.100s", path, value)
			}
			row[i] = text
		}
	}
	return nil
}
