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
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/source/compressed"
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

// Lines is a Side with a file of JSON Lines, plain or compressed.
type Lines string

// Each implements Side.
func (name Lines) Each(ctx context.Context, yield func(json.RawMessage) error) error {
	return exit.With(exit.Incomplete, name.each(ctx, yield))
}

func (name Lines) each(ctx context.Context, yield func(json.RawMessage) error) error {
	file, err := os.Open(string(name))
	if err != nil {
		return err
	}
	defer file.Close()
	unpacked, _, err := compressed.NewReader(file)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer unpacked.Close()
	r := bufio.NewReaderSize(unpacked, 1<<20)
	for n := 1; ctx.Err() == nil; n++ {
		line, err := r.ReadBytes('\n')
		if n == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		if len(bytes.TrimSpace(line)) > 0 {
			err := jsontext.Lossless(line)
			if err == nil {
				err = yield(line)
			}
			if err != nil {
				if !json.Valid(line) {
					err = errors.New("not JSON")
				}
				return fmt.Errorf("%s:%d: %w", name, n, err)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return context.Cause(ctx)
}
