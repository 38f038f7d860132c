// Package infer implements azsearch infer: it reads files completely, and derives an index definition that fits
// their records.
package infer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"slices"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/amount"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/source"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/source/csvtext"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/source/jsontext"
	"github.com/go-azsearch/azsearch/models"
)

// Files returns the definition of an index with the given name for the records of files. notes are lines for the
// user, for example on fields that were left out. It ends with ctx.
func Files(ctx context.Context, names []string, o source.Options, index string) (_ models.SearchIndex, notes []string, err error) {
	i := &inference{seed: maphash.MakeSeed()}
	for _, name := range names {
		if err := i.file(ctx, name, o); err != nil {
			return models.SearchIndex{}, nil, err
		}
	}
	if i.records == 0 {
		return models.SearchIndex{}, nil, errors.New("the files have no records to infer fields from")
	}
	if i.broken > 0 {
		i.notes = append(i.notes, fmt.Sprintf("%s cannot be read, the first at %s; a load rejects what cannot be read", amount.Of(i.broken, "record"), i.firstBroken))
	}
	definition := models.SearchIndex{Name: index, Fields: i.top.fields(&i.notes, "")}
	name := i.key()
	key := -1
	if v := i.top.values[name]; v != nil {
		key = slices.IndexFunc(definition.Fields, func(f models.SearchField) bool { return f.Name == v.as })
	}
	if key < 0 {
		i.notes = append(i.notes, "no field has a valid, distinct key in each record: \"id\" was added; load with -key COLUMN to derive keys from a column")
		definition.Fields = slices.Insert(definition.Fields, 0, models.SearchField{Name: "id", Type: models.DataTypeString})
		key = 0
	}
	f := &definition.Fields[key]
	f.Type, f.Key, f.Filterable, f.Sortable, f.Searchable, f.Facetable = models.DataTypeString, new(true), new(true), new(true), nil, nil
	for n := range definition.Fields {
		if f := &definition.Fields[n]; f.Type.IsVector() && definition.VectorSearch == nil {
			definition.VectorSearch = &models.VectorSearch{
				Profiles:   []models.VectorSearchProfile{{Name: "vectors", Algorithm: "hnsw"}},
				Algorithms: []models.VectorSearchAlgorithm{{Name: "hnsw", Kind: "hnsw"}},
			}
		}
	}
	return definition, i.notes, nil
}

// inference accumulates the shape of the records read so far.
type inference struct {
	top     shape
	records int64
	broken  int64
	notes   []string
	seed    maphash.Seed

	name        string // the file that is read
	line        int64  // of the record, from 1; for Parquet the row
	firstBroken string
}

func (i *inference) file(ctx context.Context, name string, o source.Options) error {
	f, err := source.Open(ctx, name, o)
	if err != nil {
		return err
	}
	defer f.Close()
	i.name = f.Name
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		b, err := f.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		from, at := 0, b.Start
		for _, end := range b.Ends {
			text, here := b.Data[from:end], at
			from = end
			if at = at.Behind(text); f.Kind == source.Parquet {
				at.Line = here.Line + 1
			}
			if f.Kind == source.JSON {
				value, skipped := jsontext.Trim(text)
				text, here = value, here.Behind(text[:skipped])
			}
			i.line = here.Line + 1
			if len(bytes.TrimSpace(text)) > 0 {
				i.record(f, text)
			}
		}
		b.Free()
	}
}

// record adds a record to the shape. It counts a broken one, which a load would reject.
func (i *inference) record(f *source.File, text []byte) {
	members := map[string]any{}
	if f.Kind == source.CSV {
		cells, _, err := f.Format.Cells(nil, nil, text)
		if err != nil || len(cells) != len(f.Columns) || csvtext.Repeats(cells, f.Columns) {
			i.unreadable()
			return
		}
		i.top.order(f.Columns)
		for n, c := range cells {
			members[f.Columns[n]] = cell(c)
		}
	} else {
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		if d.Decode(&members) != nil {
			i.unreadable()
			return
		}
		i.top.orderOf(text)
	}
	i.records++
	i.top.learn(members, i)
}

func (i *inference) unreadable() {
	if i.broken++; i.broken == 1 {
		i.firstBroken = i.place()
	}
}
