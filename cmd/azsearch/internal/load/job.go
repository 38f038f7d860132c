package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/convert"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/exit"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/source"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/source/csvtext"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/source/jsontext"
	"github.com/go-azsearch/azsearch/models"
)

// job is a block in progress.
type job struct {
	number  int64
	block   *source.Block
	records []record
	actions []models.RawAction
	toAdd   []models.RawAction // not yet added
	rejects []Reject
	buffer  *[]byte       // memory of the documents, until they are added
	failed  error         // an error that ends the run
	done    chan struct{} // closed after the conversion
	left    atomic.Int64  // records that are not settled, plus one until add is done
}

// record has the data for a possible reject of a record.
type record struct {
	job     *job
	text    []byte
	at      source.Position
	origin  *Reject // if the input is a file of rejects
	deletes bool
}

var jobs = sync.Pool{New: func() any { return new(job) }}

func newJob(b *source.Block) *job {
	j := jobs.Get().(*job)
	j.block, j.done = b, make(chan struct{})
	j.left.Store(1)
	return j
}

// free returns the memory of a settled job to the pool.
func (j *job) free() {
	j.block.Free()
	clear(j.records[:cap(j.records)])
	jobs.Put(j)
}

// buffers pools document memory separately from jobs: after adding, many jobs wait for the service without
// documents.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// sent releases the documents, which the sender has copied.
func (j *job) sent() {
	clear(j.actions[:cap(j.actions)])
	j.actions, j.toAdd = j.actions[:0], nil
	if cap(*j.buffer) <= 2<<20 {
		buffers.Put(j.buffer)
	}
	j.buffer = nil
}

// worker converts blocks. It is not safe for concurrent use.
type worker struct {
	*run
	converter *convert.Converter
	columns   *convert.Columns // of the previous row
	free      []byte           // unused document memory of the block
	cells     []csvtext.Cell
	scratch   []byte
}

func newWorker(r *run) *worker {
	return &worker{run: r, converter: convert.NewConverter(r.Plan)}
}

// convert creates the actions and rejects of a block.
func (w *worker) convert(j *job) {
	b := j.block
	j.buffer = buffers.Get().(*[]byte)
	if cap(*j.buffer) < len(b.Data) {
		*j.buffer = make([]byte, 0, len(b.Data)*5/4+4<<10)
	}
	w.free = *j.buffer
	if b.TooLong {
		j.records = make([]record, 1)
		j.records[0] = record{job: j, text: b.Data, at: b.Start}
		w.fail(j, &j.records[0], &convert.Problem{Kind: KindTooLarge, Message: "the record has more than 32 MiB; only its beginning is kept here"})
	} else if err := w.each(j); err != nil {
		j.failed = err
	}
	w.records.Add(int64(len(j.records)))
	j.toAdd = j.actions
	j.left.Store(int64(len(j.actions)+len(j.rejects)) + 1)
}

// each converts the records of a block.
func (w *worker) each(j *job) error {
	b, at := j.block, j.block.Start
	j.records = slices.Grow(j.records[:0], len(b.Ends)) // pointers into records must stay valid
	j.actions = slices.Grow(j.actions[:0], len(b.Ends))
	from := 0
	for _, end := range b.Ends {
		text, here := b.Data[from:end], at
		from = end
		switch b.File.Kind {
		case source.Parquet:
			at = source.Position{Offset: at.Offset + 1, Line: at.Line + 1}
		default:
			at = at.Behind(text)
		}
		if b.File.Kind == source.JSON {
			value, skipped := jsontext.Trim(text)
			here = here.Behind(text[:skipped])
			text = value
		}
		for len(text) > 0 && (text[len(text)-1] == '\n' || text[len(text)-1] == '\r') {
			text = text[:len(text)-1]
		}
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		j.records = append(j.records, record{job: j, text: text, at: here})
		if err := w.record(j, &j.records[len(j.records)-1]); err != nil {
			return err
		}
	}
	return nil
}

// record converts one record. An error ends the run.
func (w *worker) record(j *job, r *record) error {
	f := j.block.File
	switch f.Kind {
	case source.CSV:
		return w.row(j, r, f.Columns, f.Format, r.text)
	case source.Rejects:
		origin, text, err := parseReject(r.text)
		if err != nil {
			w.fail(j, r, &convert.Problem{Kind: convert.KindSyntax, Message: err.Error()})
			return nil
		}
		r.origin = origin
		if origin.Columns != nil {
			return w.row(j, r, origin.Columns, origin.Format, text)
		}
		return w.object(j, r, text)
	}
	return w.object(j, r, r.text)
}

// object converts a JSON record.
func (w *worker) object(j *job, r *record, text []byte) error {
	if w.Filter == nil {
		doc, problem := w.converter.JSON(w.room(len(text)), text)
		w.result(j, r, doc, problem)
		return nil
	}
	return w.filterRecord(j, r, func(yield func([]byte) error) error { return w.Filter.JSON(w.ctx, text, yield) })
}

// row converts a row of CSV or TSV.
func (w *worker) row(j *job, r *record, names []string, format csvtext.Format, text []byte) (err error) {
	w.cells, w.scratch, err = format.Cells(w.cells[:0], w.scratch[:0], text)
	if err != nil {
		w.fail(j, r, &convert.Problem{Kind: convert.KindSyntax, Message: err.Error()})
		return nil
	}
	if csvtext.Repeats(w.cells, names) {
		w.fail(j, r, &convert.Problem{Kind: convert.KindColumns, Message: "the header again, as in the middle of files that were joined"})
		return nil
	}
	if w.Filter != nil {
		if len(w.cells) != len(names) {
			w.fail(j, r, &convert.Problem{Kind: convert.KindColumns, Message: "not as many cells as the header has"})
			return nil
		}
		if !utf8.Valid(text) { // the result would have U+FFFD instead
			w.fail(j, r, &convert.Problem{Kind: convert.KindUTF8, Message: "the text is not UTF-8"})
			return nil
		}
		object := make(map[string]any, len(names))
		for i, c := range w.cells {
			if object[names[i]] = string(c.Text); len(c.Text) == 0 && !c.Quoted {
				object[names[i]] = nil
			}
		}
		return w.filterRecord(j, r, func(yield func([]byte) error) error { return w.Filter.Value(w.ctx, object, yield) })
	}
	columns, err := w.columnsOf(names)
	if err != nil {
		return exit.With(exit.Usage, fmt.Errorf("%s: %w", j.block.File.Name, err))
	}
	doc, problem := w.converter.Cells(w.room(len(text)), columns, w.cells)
	w.result(j, r, doc, problem)
	return nil
}

func (w *worker) columnsOf(names []string) (*convert.Columns, error) {
	if w.columns == nil || !slices.Equal(w.columns.Names, names) { // consecutive rows usually have the same columns
		c, err := w.converter.Columns(names)
		if err != nil {
			return nil, err
		}
		w.columns = c
	}
	return w.columns, nil
}

// filterRecord converts the results of -jq for one record: zero or more documents. If one result fails, the record
// is rejected and none of its documents is sent. A filter interrupted by the end of the run rejects nothing.
func (w *worker) filterRecord(j *job, r *record, results func(yield func([]byte) error) error) error {
	before, made := len(j.actions), 0
	err := results(func(result []byte) error {
		if made += len(result); made > source.MaxRecord {
			return &convert.Problem{Kind: KindTooLarge, Message: "-jq makes more than 32 MiB of the record"}
		}
		doc, problem := w.converter.JSON(w.room(len(result)), result)
		if problem != nil {
			return problem
		}
		w.accept(j, r, doc)
		return nil
	})
	switch {
	case errors.Is(err, context.Canceled):
		return context.Cause(w.ctx)
	case err != nil:
		clear(j.actions[before:])
		j.actions = j.actions[:before]
		problem := &convert.Problem{Kind: KindFilter, Message: err.Error()}
		if told := (*convert.Problem)(nil); errors.As(err, &told) {
			problem = told
			problem.At = 0 // an offset in the result, not in the record
		}
		w.fail(j, r, problem)
	case len(j.actions) == before:
		w.filtered.Add(1)
	}
	return nil
}

// room returns memory for a document, with about a quarter more than the length of its record.
func (w *worker) room(record int) []byte {
	if need := record + record/4 + 256; cap(w.free) < need {
		w.free = make([]byte, 0, max(64<<10, need))
	}
	return w.free
}

func (w *worker) result(j *job, r *record, doc convert.Document, problem *convert.Problem) {
	if problem != nil {
		w.fail(j, r, problem)
		return
	}
	w.accept(j, r, doc)
}

func (w *worker) accept(j *job, r *record, doc convert.Document) {
	w.free = doc.JSON[len(doc.JSON):]
	r.deletes = doc.Action == models.ActionTypeDelete
	w.documents.Add(1)
	w.bytes.Add(int64(len(doc.JSON)))
	j.actions = append(j.actions, models.RawAction{Key: doc.Key, Type: doc.Action, Document: doc.JSON, Tag: r, OnOutcome: w.outcome})
}

func (w *worker) fail(j *job, r *record, p *convert.Problem) {
	j.rejects = append(j.rejects, r.reject(p))
}
