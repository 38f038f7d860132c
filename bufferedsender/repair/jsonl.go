package repair

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"sort"

	"github.com/go-azsearch/azsearch/models"
)

// JSONLOptions names the fields of a document that are compared.
type JSONLOptions struct {
	// Key is the key field. Required.
	Key string
	// Version is a field with a whole number or a time, see search.RowsOptions. Digest is a string field that changes with
	// the document; DigestOf are fields to compute a digest from, see models.DigestOf. Set at most one of Digest and
	// DigestOf. All default to none.
	Version  string
	Digest   string
	DigestOf []string
}

// JSONL is a Source that reads a file with one JSON document per line, sorted by the bytes of their keys. It is safe
// for concurrent use.
type JSONL struct {
	file    *os.File
	options JSONLOptions
	info    os.FileInfo
	places  []place // of every thousandth line, and at least one in placeBytes
}

// place is the offset of a line and its key.
type place struct {
	key    string
	offset int64
}

// placeBytes bounds what is read to find a key, if documents are large. Lookups have a minute.
const placeBytes = 1 << 20

// maxLine bounds a line in bytes; the service limits a document to 16 MB.
const maxLine = 32 << 20

// OpenJSONL opens a file and checks all of it, so that errors appear before a comparison starts. The error names the
// line. Call Close when done. After a change of the file, or with another file at its path, scans and lookups return an
// error.
func OpenJSONL(path string, opts *JSONLOptions) (_ *JSONL, err error) {
	j := &JSONL{}
	if opts != nil {
		j.options = *opts
	}
	if j.options.Key == "" {
		return nil, errors.New("repair: OpenJSONL: JSONLOptions.Key is empty: name the field with the key")
	}
	if j.options.Digest != "" && len(j.options.DigestOf) > 0 {
		return nil, errors.New("repair: OpenJSONL: Digest and DigestOf are both set: use one of them")
	}
	named, err := filepath.Abs(path) // from looks there, also after a change of the directory
	if err != nil {
		return nil, fmt.Errorf("repair: OpenJSONL: %w", err)
	}
	if j.file, err = os.Open(named); err != nil {
		return nil, fmt.Errorf("repair: OpenJSONL: %w", err)
	}
	if j.info, err = j.file.Stat(); err == nil {
		err = j.index(path)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("repair: OpenJSONL: %w", err), j.file.Close())
	}
	return j, nil
}

// HasVersions reports whether the rows have versions.
func (j *JSONL) HasVersions() bool { return j != nil && j.options.Version != "" }

// index records the places, and returns the first error of the file.
func (j *JSONL) index(path string) error {
	n, last := 0, ""
	for l, err := range j.lines(0) {
		n++ // without blank lines
		if err != nil {
			return fmt.Errorf("line %d of %s: %w", l.number, path, err)
		}
		switch {
		case n > 1 && l.row.Key == last:
			return fmt.Errorf("line %d of %s has the key %q again", l.number, path, l.row.Key)
		case n > 1 && l.row.Key < last:
			return fmt.Errorf("line %d of %s: the key %q comes behind %q: sort the lines by the bytes of their keys", l.number, path, l.row.Key, last)
		}
		last = l.row.Key
		if n%chunkRows == 1 || l.offset-j.places[len(j.places)-1].offset >= placeBytes {
			j.places = append(j.places, place{last, l.offset})
		}
	}
	return nil
}

// Close closes the file.
func (j *JSONL) Close() error { return j.file.Close() }

// line is one document of the file.
type line struct {
	row      models.Row
	document json.RawMessage
	offset   int64
	number   int // from 1 on, from the offset where reading began
}

// lines reads the file from an offset, which must be the start of a line.
func (j *JSONL) lines(from int64) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		size := j.info.Size()
		scanner := bufio.NewScanner(io.NewSectionReader(j.file, from, size-from))
		scanner.Buffer(make([]byte, 0, 64<<10), maxLine)
		at, next := from, from
		scanner.Split(func(data []byte, end bool) (advance int, text []byte, err error) {
			advance, text, err = bufio.ScanLines(data, end)
			at, next = next, next+int64(advance) // the end of a line may be "\r\n"
			return advance, text, err
		})
		number := 0
		for scanner.Scan() {
			number++
			text := scanner.Bytes()
			if text = bytes.TrimSpace(text); len(text) == 0 {
				continue
			}
			row, err := j.row(text)
			if !yield(line{row, text, at, number}, err) || err != nil {
				return
			}
		}
		if err := scanner.Err(); err != nil {
			yield(line{number: number + 1}, err)
		}
	}
}

// row returns the row of a document.
func (j *JSONL) row(document []byte) (row models.Row, err error) {
	o := &j.options
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(document, &fields); err != nil {
		return row, err
	}
	if err := json.Unmarshal(fieldOf(fields, o.Key), &row.Key); err != nil || row.Key == "" {
		return row, fmt.Errorf("the key field %q must be a string that is not empty", o.Key)
	}
	if o.Version != "" {
		var value any
		if text := fieldOf(fields, o.Version); text[0] == '"' {
			if err := json.Unmarshal(text, &value); err != nil {
				return row, err
			}
		} else if string(text) != "null" {
			value = string(text)
		}
		if row.Version, err = versionOf(value); err != nil {
			return row, fmt.Errorf("the field %q: %w", o.Version, err)
		}
	}
	if o.Digest != "" {
		if err := json.Unmarshal(fieldOf(fields, o.Digest), &row.Digest); err != nil {
			return row, fmt.Errorf("the digest field %q must be a string", o.Digest)
		}
	}
	if len(o.DigestOf) > 0 {
		row.Digest, err = models.DigestOf(document, o.DigestOf...)
	}
	return row, err
}

func fieldOf(fields map[string]json.RawMessage, name string) json.RawMessage {
	if text := fields[name]; text != nil {
		return text
	}
	return json.RawMessage("null")
}

// place returns the number, from 1, of the last place whose key is at most the given one; 0 if there is none.
func (j *JSONL) place(key string) int {
	return sort.Search(len(j.places), func(i int) bool { return j.places[i].key > key })
}

// from returns the lines from the last place whose key is at most the given one.
func (j *JSONL) from(key string) iter.Seq2[line, error] {
	i := j.place(key)
	return func(yield func(line, error) bool) {
		info, err := j.file.Stat()
		there, gone := os.Stat(j.file.Name()) // a file that was renamed into place leaves this one as it was
		if err == nil && (info.Size() != j.info.Size() || !info.ModTime().Equal(j.info.ModTime()) || gone == nil && !os.SameFile(info, there)) {
			err = fmt.Errorf("%s has changed since it was opened: open it again", j.file.Name())
		}
		if err != nil {
			yield(line{}, err)
			return
		}
		if i > 0 {
			j.lines(j.places[i-1].offset)(yield)
		} else {
			j.lines(0)(yield)
		}
	}
}

// Scan implements Source.
func (j *JSONL) Scan(ctx context.Context, after, through string) iter.Seq2[models.Row, error] {
	return func(yield func(models.Row, error) bool) {
		for l, err := range j.from(after) {
			switch {
			case err != nil:
				yield(models.Row{}, err)
				return
			case ctx.Err() != nil:
				yield(models.Row{}, ctx.Err())
				return
			case l.row.Key <= after:
				continue
			case through != "" && l.row.Key > through:
				return
			}
			if !yield(l.row, nil) {
				return
			}
		}
	}
}

// find calls found for each of the keys in the file, in byte order.
func (j *JSONL) find(ctx context.Context, keys []string, found func(line)) error {
	keys = slices.Compact(slices.Sorted(slices.Values(keys)))
	for again := true; again; {
		again = false
		for l, err := range j.from(keys[0]) {
			if err = cmp.Or(err, ctx.Err()); err != nil {
				return err
			}
			for len(keys) > 0 && keys[0] < l.row.Key {
				keys = keys[1:]
			}
			if len(keys) > 0 && keys[0] == l.row.Key {
				found(l)
				keys = keys[1:]
			}
			if len(keys) == 0 {
				return nil
			}
			if again = j.place(keys[0]) > j.place(l.row.Key); again {
				break // the next key is behind a later place
			}
		}
	}
	return nil
}

// Lookup implements Source.
func (j *JSONL) Lookup(ctx context.Context, keys []string) (rows []models.Row, err error) {
	if len(keys) == 0 {
		return nil, nil
	}
	err = j.find(ctx, keys, func(l line) { rows = append(rows, l.row) })
	return rows, err
}

// Read implements Source. Each document is an upload with the JSON of the file.
func (j *JSONL) Read(ctx context.Context, keys []string) (actions []models.RawAction, err error) {
	if len(keys) == 0 {
		return nil, nil
	}
	err = j.find(ctx, keys, func(l line) {
		actions = append(actions, models.RawAction{Key: l.row.Key, Type: models.ActionTypeUpload, Document: bytes.Clone(l.document)})
	})
	return actions, err
}
