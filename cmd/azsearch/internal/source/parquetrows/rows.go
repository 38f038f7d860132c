// Package parquetrows reads Parquet files row by row, each row as a line of JSON. It reads page by page, so memory
// does not depend on the size of row groups.
package parquetrows

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
	"sync/atomic"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// atOnce is the number of rows per decoding step.
const atOnce = 128

// Rows reads the rows of a file. Only Share is safe for concurrent use.
type Rows struct {
	file    *parquet.File
	from    io.ReaderAt
	groups  []parquet.RowGroup // not read yet; rows is of the first one, or nil
	rows    parquet.Rows
	left    int64 // number of rows that the opened group still has
	encoder *encoder
	buffer  []parquet.Row
	ready   []parquet.Row // part of buffer: decoded, not written
	read    atomic.Int64
}

// corrupt converts a panic into an error, because the library panics on some corrupt files. Call it deferred.
func corrupt(err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("corrupt Parquet file: %v", v)
	}
}

// Open reads the footer of a file.
func Open(r io.ReaderAt, size int64) (_ *Rows, err error) {
	defer corrupt(&err)
	// The library allocates as much as the file claims for its footer, up to 4 GiB, before it reads it.
	var end [8]byte
	if _, err := r.ReadAt(end[:], size-int64(len(end))); err != nil {
		return nil, fmt.Errorf("not a Parquet file, or cut off: %w", err)
	}
	if n := int64(binary.LittleEndian.Uint32(end[:])); n > size-int64(len(end)) {
		return nil, fmt.Errorf("not a Parquet file, or cut off: its footer would have %d bytes, the file has %d", n, size)
	}
	file, err := parquet.OpenFile(r, size, parquet.SkipBloomFilters(true), parquet.SkipPageIndex(true),
		parquet.FileReadMode(parquet.ReadModeSync), parquet.ReadBufferSize(64<<10))
	if err != nil {
		return nil, fmt.Errorf("not a Parquet file, or cut off: %w", err)
	}
	return &Rows{file: file, from: r, groups: file.RowGroups(), encoder: newEncoder(file), buffer: make([]parquet.Row, atOnce)}, nil
}

// Append appends rows to data, each as a line of JSON, and the end of each line to ends, until data has about size
// bytes. It returns io.EOF if there are no more rows. Types that JSON lacks are written as the nearest JSON type.
func (r *Rows) Append(data []byte, ends []int, size int) (_ []byte, _ []int, err error) {
	before := len(ends)
	defer corrupt(&err)
	for len(data) < size {
		if len(r.ready) == 0 {
			if err := r.fill(); err != nil {
				if len(ends) > before && errors.Is(err, io.EOF) {
					break
				}
				return data, ends, err
			}
		}
		for len(r.ready) > 0 && len(data) < size {
			data = append(r.encoder.row(data, r.ready[0]), '\n')
			r.ready = r.ready[1:]
			ends = append(ends, len(data))
		}
	}
	r.read.Add(int64(len(ends) - before))
	return data, ends, nil
}

// fill decodes the next rows.
func (r *Rows) fill() error {
	for len(r.groups) > 0 {
		if r.groups[0].NumRows() == 0 { // the library cannot read it
			r.groups = r.groups[1:]
			continue
		}
		if r.rows == nil {
			if err := r.open(); err != nil {
				return err
			}
		}
		n, err := r.rows.ReadRows(r.buffer)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if errors.Is(err, io.EOF) && n == 0 {
			err := r.rows.Close()
			r.rows, r.groups = nil, r.groups[1:]
			if err == nil && r.left != 0 {
				err = fmt.Errorf("a row group does not have as many rows as the footer says: %w", parquet.ErrCorrupted)
			}
			if err != nil {
				return err
			}
			continue
		}
		r.left -= int64(n)
		r.ready = r.buffer[:n]
		return nil
	}
	return io.EOF
}

// SkipTo moves to a row. Call it before the first Append.
func (r *Rows) SkipTo(row int64) (err error) {
	defer corrupt(&err)
	r.read.Store(row)
	for len(r.groups) > 0 && row >= r.groups[0].NumRows() {
		row -= r.groups[0].NumRows()
		r.groups = r.groups[1:]
	}
	if row == 0 || len(r.groups) == 0 {
		return nil
	}
	if err := r.open(); err != nil {
		return err
	}
	r.left -= row
	return r.rows.SeekToRow(row)
}

// open opens the first of the groups.
func (r *Rows) open() error {
	all := r.file.Metadata().RowGroups
	columns := all[len(all)-len(r.groups)].Columns
	for i := range columns {
		if err := r.checkDictionary(&columns[i].MetaData); err != nil {
			return fmt.Errorf("column %s: %w", strings.Join(columns[i].MetaData.PathInSchema, "."), err)
		}
	}
	r.rows, r.left = r.groups[0].Rows(), r.groups[0].NumRows()
	return nil
}

// checkDictionary compares the dictionary of a column with its checksum, if it has one. The library compares those of
// the other pages only.
func (r *Rows) checkDictionary(c *format.ColumnMetaData) error {
	if c.DictionaryPageOffset <= 0 || c.TotalCompressedSize <= 0 {
		return nil
	}
	page := bufio.NewReader(io.NewSectionReader(r.from, c.DictionaryPageOffset, c.TotalCompressedSize))
	var header format.PageHeader
	err := thrift.NewDecoder(new(thrift.CompactProtocol).NewReader(page)).Decode(&header)
	if err != nil || header.Type != format.DictionaryPage || header.CRC == 0 {
		return nil //nolint:nilerr // the library says what is wrong with a header
	}
	sum := crc32.NewIEEE()
	if _, err := io.CopyN(sum, page, int64(header.CompressedPageSize)); err != nil && !errors.Is(err, io.EOF) { // io.EOF would be the end of the rows
		return err
	}
	if sum.Sum32() != uint32(header.CRC) {
		return fmt.Errorf("the dictionary differs from its checksum: %w", parquet.ErrCorrupted)
	}
	return nil
}

// Share returns the part of size that corresponds to the rows read so far.
func (r *Rows) Share(size int64) int64 {
	all := r.file.NumRows()
	if all == 0 {
		return size
	}
	return int64(float64(size) * float64(r.read.Load()) / float64(all))
}

// Close releases what Append has opened. It does not close the file.
func (r *Rows) Close() (err error) {
	defer corrupt(&err)
	if r.rows == nil {
		return nil
	}
	return r.rows.Close()
}
