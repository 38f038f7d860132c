// Package parquetrows is for reading Parquet files row by row: each row becomes a line of JSON. Pages are read one by
// one, so that memory does not depend on the size of row groups.
package parquetrows

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/parquet-go/parquet-go"
)

// atOnce is how many rows are decoded at once.
const atOnce = 128

// Rows reads the rows of a file. One goroutine uses it; Share may be asked by any.
type Rows struct {
	file    *parquet.File
	groups  []parquet.RowGroup // that are left; the first one is open if rows is not nil
	rows    parquet.Rows
	encoder *encoder
	buffer  []parquet.Row
	ready   []parquet.Row // of buffer, decoded and not written
	read    atomic.Int64
}

// corrupt makes an error of a panic: the library panics on some files that are corrupt.
func corrupt(err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("corrupt Parquet file: %v", v)
	}
}

// Open reads the footer of a file.
func Open(r io.ReaderAt, size int64) (_ *Rows, err error) {
	defer corrupt(&err)
	// The library makes room for a footer of the length that the file gives, up to 4 GiB, before it reads it.
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
	return &Rows{file: file, groups: file.RowGroups(), encoder: newEncoder(file.Root()), buffer: make([]parquet.Row, atOnce)}, nil
}

// Append appends rows to data, each as a line of JSON whose end it appends to ends, until there are about size bytes.
// The error is io.EOF if there are no more. Types that JSON lacks are written as the nearest one.
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
		if r.rows == nil {
			r.rows = r.groups[0].Rows()
		}
		n, err := r.rows.ReadRows(r.buffer)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if errors.Is(err, io.EOF) && n == 0 {
			err := r.rows.Close()
			r.rows, r.groups = nil, r.groups[1:]
			if err != nil {
				return err
			}
			continue
		}
		r.ready = r.buffer[:n]
		return nil
	}
	return io.EOF
}

// SkipTo goes to a row, before the first Append.
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
	r.rows = r.groups[0].Rows()
	return r.rows.SeekToRow(row)
}

// Share returns the share of size that has been read.
func (r *Rows) Share(size int64) int64 {
	all := r.file.NumRows()
	if all == 0 {
		return size
	}
	return int64(float64(size) * float64(r.read.Load()) / float64(all))
}

// Close closes what Append has opened. The file belongs to the caller.
func (r *Rows) Close() (err error) {
	defer corrupt(&err)
	if r.rows == nil {
		return nil
	}
	return r.rows.Close()
}
