package verify

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/exit"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/keyrange"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/source"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/source/jsontext"
)

// Index is a Side with the documents of an index.
type Index struct {
	*keyrange.Index
	InFlight int
}

// Each implements Side.
func (x Index) Each(ctx context.Context, yield func(json.RawMessage) error) error {
	ctx = keyrange.Whole(ctx)
	return keyrange.Each(ctx, x.InFlight, x.Split(ctx, keyrange.Range{}, keyrange.Size), func(ctx context.Context, r keyrange.Range) error {
		return all(x.Documents(ctx, r), yield)
	})
}

func all(documents iter.Seq2[json.RawMessage, error], yield func(json.RawMessage) error) error {
	for document, err := range documents {
		if err == nil {
			err = yield(document)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Documents is a function that implements Side.
type Documents func(ctx context.Context, yield func(json.RawMessage) error) error

// Each implements Side.
func (d Documents) Each(ctx context.Context, yield func(json.RawMessage) error) error {
	return d(ctx, yield)
}

// Files is a Side with the files of a backup, each a sequence of documents.
type Files []iter.Seq2[json.RawMessage, error]

// Each implements Side.
func (f Files) Each(ctx context.Context, yield func(json.RawMessage) error) error {
	return keyrange.Each(ctx, 4, func(next func(iter.Seq2[json.RawMessage, error], error) bool) {
		for _, documents := range f {
			if !next(documents, nil) {
				return
			}
		}
	}, func(_ context.Context, documents iter.Seq2[json.RawMessage, error]) error {
		return exit.With(exit.Incomplete, all(documents, yield))
	})
}

// Lines is a Side with a file of JSON or Parquet, plain or compressed. CSV needs the types of an index.
type Lines string

// Each implements Side.
func (name Lines) Each(ctx context.Context, yield func(json.RawMessage) error) error {
	return exit.With(exit.Incomplete, name.each(ctx, yield))
}

func (name Lines) each(ctx context.Context, yield func(json.RawMessage) error) error {
	f, err := source.Open(ctx, string(name), source.Options{Stdin: os.Stdin})
	if err != nil {
		return err
	}
	defer f.Close()
	if f.Kind == source.CSV || f.Kind == source.Rejects {
		return fmt.Errorf("%s: a file of kind %s can only be compared with an index, which has the types", name, f.Kind)
	}
	for ctx.Err() == nil {
		b, err := f.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := records(b, yield); err != nil {
			return err
		}
		b.Free()
	}
	return context.Cause(ctx)
}

// records calls yield with each record of a block.
func records(b *source.Block, yield func(json.RawMessage) error) error {
	from, at := 0, b.Start
	for _, end := range b.Ends {
		record, here := b.Data[from:end], at
		from, at = end, at.Behind(record)
		if b.File.Kind == source.JSON {
			value, skipped := jsontext.Trim(record)
			record, here = value, here.Behind(record[:skipped])
		}
		if record = bytes.TrimSpace(record); len(record) == 0 {
			continue
		}
		err := jsontext.Lossless(record)
		if err == nil {
			err = yield(record)
		}
		if err != nil {
			if !json.Valid(record) {
				err = errors.New("not JSON")
			}
			return fmt.Errorf("%s:%d: %w", b.File.Name, here.Line+1, err)
		}
	}
	if b.TooLong {
		return fmt.Errorf("%s:%d: the record has more than %d bytes", b.File.Name, b.Start.Line+1, source.MaxRecord)
	}
	return nil
}

// Copy writes the documents of a side to a new file of JSON Lines.
func Copy(ctx context.Context, side Side, name string) (err error) {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(file, 1<<20)
	defer func() { err = errors.Join(err, w.Flush(), file.Close()) }()
	return side.Each(ctx, func(document json.RawMessage) error {
		document, err := json.Marshal(document) // in one line
		if err == nil {
			_, err = w.Write(append(document, '\n'))
		}
		return err
	})
}
