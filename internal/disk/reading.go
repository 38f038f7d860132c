package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// Reading is a file for random reads, within the size that it had when it was opened.
type Reading struct {
	// Size is that size, in bytes.
	Size int64

	file fs.File
	at   io.ReaderAt
}

// OpenReading opens a file of a Folder, or of another fs.FS whose files are io.ReaderAts.
func OpenReading(folder fs.FS, name string) (*Reading, error) {
	file, err := folder.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	at, ok := file.(io.ReaderAt)
	if err == nil && !ok {
		err = fmt.Errorf("%s: the files of the folder cannot be read at an offset", name)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &Reading{info.Size(), file, at}, nil
}

// Read fills b from an offset, or returns an error: io.ErrUnexpectedEOF if the file ends before.
func (r *Reading) Read(b []byte, offset int64) error {
	n, err := r.at.ReadAt(b, offset)
	switch {
	case n == len(b):
		return nil
	case err == nil, errors.Is(err, io.EOF):
		return io.ErrUnexpectedEOF
	}
	return err
}

// Close closes the file.
func (r *Reading) Close() error { return r.file.Close() }
