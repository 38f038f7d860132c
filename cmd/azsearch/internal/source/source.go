// Package source reads files of records in any size, format and compression, as blocks of whole records with their
// positions.
package source

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/source/compressed"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/source/csvtext"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/source/jsontext"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/source/parquetrows"
)

// Kind is a format of files.
type Kind string

// The kinds of files. The rows of a Parquet file are returned as JSON Lines.
const (
	JSONLines Kind = "jsonl"
	JSON      Kind = "json" // an array, or a sequence of values
	CSV       Kind = "csv"  // or another separator
	Parquet   Kind = "parquet"
	Rejects   Kind = "rejects" // the rejects of a load
)

// Kinds are the values of Options.Kind.
var Kinds = []string{string(JSONLines), string(JSON), string(CSV), "tsv", string(Parquet), string(Rejects)}

const (
	blockBytes = 256 << 10
	// MaxRecord is the maximum size of a record in bytes: twice the size that the service accepts.
	MaxRecord = 32 << 20
	headBytes = 64 << 10
	// Stdin is the file name of the standard input.
	Stdin = "-"
)

// RejectMark begins each line of a file of rejects.
const RejectMark = `{"azsearch":"reject"`

// Position is a position in a file.
type Position struct {
	Offset int64 `json:"offset"` // in bytes, decompressed; for Parquet in rows
	Line   int64 `json:"line"`   // number of lines before it; for Parquet rows
	// Key is that of the first row behind it, if a query orders the rows by key; "" elsewhere, and for the first row.
	Key string `json:"key,omitempty"`
}

// Block has whole records of a file. Free it when its Data is no longer used.
type Block struct {
	File       *File
	Start, End Position
	Next       Position // where to continue: End, or before a record that may continue, or a key of a query
	Data       []byte
	Ends       []int // ends of the records in Data
	TooLong    bool  // Data is the beginning of one record of more than MaxRecord bytes, which is a line or row
}

var blocks = sync.Pool{New: func() any { return new(Block) }}

func newBlock(f *File, start Position) *Block {
	b := blocks.Get().(*Block)
	*b = Block{File: f, Start: start, Data: b.Data[:0], Ends: b.Ends[:0]}
	return b
}

// Free returns the memory of b to the pool.
func (b *Block) Free() {
	if cap(b.Data) <= 4*blockBytes {
		blocks.Put(b)
	}
}

// Options are the settings for reading a file.
type Options struct {
	Kind  string // one of Kinds; "" detects it
	Stdin io.Reader
	// Query opens the rows of a database as CSV. If it is not nil, names are databases, not files. With a column the
	// rows are ordered by it, and begin at the key from, unless that is "".
	Query   func(column, from string) (Rows, error)
	OrderBy string // the column for Query, "" if the order is of no importance
	From    string // the Key of the position that Seek will get
}

// Rows are the rows of a query, as CSV.
type Rows interface {
	io.ReadCloser
	// Group returns the last key of the rows that begin before an offset, and the offset of the first row with it. The
	// key is "" if there is none. Offsets must not fall from call to call.
	Group(before int64) (offset int64, key string)
}

// File is an open file. Only Read is safe for concurrent use.
type File struct {
	Name    string
	Kind    Kind
	Format  csvtext.Format // of CSV
	Columns []string       // the header of CSV
	Packed  bool
	Size    int64 // on disk, possibly compressed; 0: unknown

	raw     *counter
	closers []io.Closer
	text    *text
	rows    *parquetrows.Rows
	at      Position
	keyed   Rows     // of a query that orders by key, else nil
	next    Position // with keyed: where to continue
	ahead   int64    // with keyed: how much further a position is than the offset of the rows
}

// Open opens a file and detects its format and compression. The end of ctx ends Open, and Next with the cause, where
// they wait for the standard input or a pipe.
func Open(ctx context.Context, name string, o Options) (_ *File, err error) {
	f := &File{Name: name}
	defer func() {
		if err != nil {
			f.Close()
			if o.Query == nil { // the error of a query names the database
				err = fmt.Errorf("%s: %w", name, plain(err))
			}
		}
	}()
	in := o.Stdin
	if o.Query != nil {
		rows, err := o.Query(o.OrderBy, o.From)
		if err != nil {
			return nil, err
		}
		if o.OrderBy != "" {
			f.keyed = rows
		}
		f.raw = &counter{r: rows}
		f.closers, f.text, f.Kind = append(f.closers, rows), &text{r: f.raw}, CSV
		return f, f.begin(nil) // separator is a comma, quote a double quote
	}
	regular := false
	if name != Stdin {
		opened, err := openFile(ctx, name)
		if err != nil {
			return nil, err
		}
		f.closers = append(f.closers, opened)
		in = opened
		info, err := opened.Stat()
		switch {
		case err != nil:
			return nil, err
		case info.IsDir():
			return nil, fmt.Errorf("is a directory; name its files, for example %s", filepath.Join(name, "*.jsonl"))
		case info.Mode().IsRegular():
			f.Size, regular = info.Size(), true
		}
	}
	var waits *pipe
	if !regular {
		waits = newPipe(ctx, in)
		f.closers = append(f.closers, waits)
		in = waits
	}
	f.raw = &counter{r: in}
	unpacked, packed, err := compressed.NewReader(f.raw)
	if err != nil {
		return nil, err
	}
	f.Packed = packed
	f.closers = append(f.closers, unpacked)
	f.text = &text{r: unpacked, waits: waits}
	head, err := f.text.peek(headBytes)
	if err != nil {
		return nil, err
	}
	if f.Kind, err = kindOf(name, o.Kind, head); err != nil {
		return nil, err
	}
	return f, f.begin(head)
}

var errCut = errors.New("the file is cut off, or still being written")

// plain returns the cause of an os.PathError, because Open adds the name, and replaces io.ErrUnexpectedEOF by a
// plain text.
func plain(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errCut
	}
	if p, ok := err.(*os.PathError); ok { //nolint:errorlint // what wraps one says more
		return p.Err
	}
	return err
}

// begin prepares for reading the first record: it skips a byte order mark and reads a header.
func (f *File) begin(head []byte) error {
	for _, bom := range []string{"\xff\xfe", "\xfe\xff"} {
		if bytes.HasPrefix(head, []byte(bom)) {
			return errors.New("the text is UTF-16; convert it, for example by iconv -f UTF-16 -t UTF-8")
		}
	}
	if bytes.HasPrefix(head, []byte("\ufeff")) {
		f.text.skip(3)
		f.at.Offset, head = 3, head[3:]
	}
	switch f.Kind {
	case Parquet:
		file, ok := f.closers[0].(*os.File)
		if !ok || f.Packed || f.Size == 0 {
			return errors.New("reading Parquet needs a plain file, not a pipe or a compressed one; save it as a file")
		}
		rows, err := parquetrows.Open(file, f.Size)
		f.rows = rows
		return err
	case CSV:
		f.Format = csvtext.Detect(head)
		f.text.cut = f.Format
		return f.header()
	case JSON:
		f.text.cut = jsontext.Values{}
		f.text.array = bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("["))
	default:
		f.text.cut = jsontext.Lines{}
	}
	return nil
}

// kindOf returns the kind of a file: that of Options.Kind, else by content and name.
func kindOf(name, given string, head []byte) (Kind, error) {
	trimmed := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
	switch {
	case given == "tsv":
		return CSV, nil
	case given != "" && !slices.Contains(Kinds, given):
		return "", fmt.Errorf("format %q is unknown; use one of %s", given, strings.Join(Kinds, ", "))
	case given != "":
		return Kind(given), nil
	case bytes.HasPrefix(head, []byte("PAR1")):
		return Parquet, nil
	case bytes.HasPrefix(trimmed, []byte(RejectMark)):
		return Rejects, nil
	}
	name = strings.ToLower(name)
	for _, packed := range []string{".gz", ".zst", ".zstd"} {
		name = strings.TrimSuffix(name, packed)
	}
	switch filepath.Ext(name) {
	case ".csv", ".tsv", ".psv":
		return CSV, nil
	case ".jsonl", ".ndjson":
		if !bytes.HasPrefix(trimmed, []byte("[")) {
			return JSONLines, nil
		}
	case ".parquet":
		if len(head) > 0 {
			return "", errors.New("not a Parquet file by its first bytes; name its format with -format")
		}
	}
	switch {
	case bytes.HasPrefix(trimmed, []byte("[")):
		return JSON, nil
	case bytes.HasPrefix(trimmed, []byte("{")):
		if line, _, _ := bytes.Cut(trimmed, []byte("\n")); len(line) < headBytes/2 && !json.Valid(line) && filepath.Ext(name) == ".json" {
			return JSON, nil // the value spans several lines
		}
		return JSONLines, nil
	case filepath.Ext(name) == ".json", len(trimmed) == 0:
		return JSONLines, nil
	}
	return CSV, nil
}

// header reads the column names.
func (f *File) header() error {
	row, err := f.text.next(true, nil)
	if errors.Is(err, io.EOF) {
		return nil // an empty file has no records
	}
	if err != nil {
		return err
	}
	f.at = f.at.Behind(row)
	cells, _, err := f.Format.Cells(nil, nil, row)
	if err != nil {
		return fmt.Errorf("header: %w", err)
	}
	for i, c := range cells {
		if !c.Quoted && bytes.IndexByte(c.Text, '\r') >= 0 {
			return errors.New("lines end with a carriage return alone; convert them, for example by tr '\\r' '\\n'")
		}
		name := strings.TrimSpace(string(c.Text))
		if name == "" && i == len(cells)-1 {
			return fmt.Errorf("header: column %d has no name; the line ends with a separator", i+1)
		}
		if before := slices.Index(f.Columns, name); before >= 0 {
			return fmt.Errorf("header: columns %d and %d are both named %q; rename one", before+1, i+1, name)
		}
		f.Columns = append(f.Columns, name)
	}
	return nil
}

// Plain returns a file of plain text, and how much of it was returned as blocks; else nil. It is valid until Close.
func (f *File) Plain() (io.ReaderAt, int64) {
	file, ok := f.closers[0].(*os.File)
	if !ok || f.rows != nil || f.Packed {
		return nil, 0
	}
	return file, f.at.Offset
}

// Seek moves to a position, the Next of an earlier block. Call it before the first Next.
func (f *File) Seek(to Position) (err error) {
	if to.Offset <= f.at.Offset {
		return nil
	}
	switch {
	case f.keyed != nil: // the query begins there
		f.next, f.ahead = to, to.Offset-f.at.Offset
	case f.rows != nil:
		err = f.rows.SkipTo(to.Offset)
	case f.Packed || f.Size == 0:
		err = f.text.discard(to.Offset - f.at.Offset)
	case to.Offset > f.Size:
		return errShort
	default:
		file, before := f.closers[0].(*os.File), int64(0)
		if f.text.array { // what is before the position shows whether the array has ended
			before = min(to.Offset, headBytes)
		}
		if _, err = file.Seek(to.Offset-before, io.SeekStart); err == nil {
			f.raw.n.Store(to.Offset - before)
			f.text.restart(f.raw)
			err = f.text.discard(before)
		}
	}
	f.at = to
	return err
}

// Next returns the next block, or io.EOF at the end.
func (f *File) Next() (*Block, error) {
	b := newBlock(f, f.at)
	var err error
	if f.rows != nil {
		b.Data, b.Ends, err = f.rows.Append(b.Data, b.Ends, blockBytes)
		n := int64(len(b.Ends))
		f.at = Position{Offset: f.at.Offset + n, Line: f.at.Line + n}
	} else {
		f.text.ends = b.Ends
		b.Data, err = f.text.next(false, b.Data)
		b.Ends = f.text.ends
		b.TooLong = f.text.tooLong
		f.at = f.at.Behind(b.Data)
		f.at.Offset += f.text.skipped
		f.at.Line += min(f.text.skipped, 1) // the skipped bytes include the line end
	}
	b.End = f.at
	b.Next = f.after(b)
	if err != nil {
		b.Free()
		if read := f.raw.n.Load(); errors.Is(err, io.EOF) && f.rows == nil && !f.Packed && read < f.Size {
			err = fmt.Errorf("the file became shorter while it was read: got %d of %d bytes", read, f.Size)
		}
		if cell := (*openCellError)(nil); errors.As(err, &cell) {
			return nil, fmt.Errorf("%s:%d: %w", f.Name, f.at.Line+int64(cell.lines)+1, cell)
		}
		if !errors.Is(err, io.EOF) {
			err = fmt.Errorf("%s: after line %d: %w", f.Name, f.at.Line, plain(err))
		}
		return nil, err
	}
	return b, nil
}

// after returns the position at which a run continues that has settled b.
func (f *File) after(b *Block) Position {
	if f.keyed == nil && f.rows == nil && f.text.open > 0 {
		return b.Start.Behind(b.Data[:len(b.Data)-f.text.open])
	}
	if f.keyed == nil {
		return b.End
	}
	offset, key := f.keyed.Group(b.End.Offset - f.ahead)
	if in := offset + f.ahead - b.Start.Offset; key != "" && in >= 0 { // else the last key is that of earlier blocks
		f.next = b.Start.Behind(b.Data[:in])
		f.next.Key = key
	}
	return f.next
}

// Read returns the number of bytes read from the file as stored. It is safe for concurrent use.
func (f *File) Read() int64 {
	if f.rows != nil {
		return f.rows.Share(f.Size)
	}
	return f.raw.n.Load()
}

// Close closes the file. It returns no error, because data that was read does not depend on it.
func (f *File) Close() {
	if f.rows != nil {
		_ = f.rows.Close()
	}
	for _, c := range slices.Backward(f.closers) {
		_ = c.Close()
	}
}

// Behind returns the position after data, if data begins at p.
func (p Position) Behind(data []byte) Position {
	return Position{Offset: p.Offset + int64(len(data)), Line: p.Line + int64(bytes.Count(data, []byte("\n")))}
}
