package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/go-azsearch/azsearch/search/searchtest"
)

// writable returns an error if the file of a flag cannot be written at path. It is called before anything starts, and
// leaves no file behind.
func writable(flag, path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fmt.Errorf("%s cannot be used: %w", flag, err)
	case info.IsDir():
		return fmt.Errorf("%s %s is a directory: name a file in it", flag, path)
	case !info.Mode().IsRegular():
		return nil // a device or pipe is opened only for the write
	default:
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return fmt.Errorf("%s cannot be used: %w: make the file writable, or name another one", flag, err)
		}
		_ = f.Close()
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return fmt.Errorf("%s cannot be used: %w", flag, err)
		}
	}
	// A new file is written in the same directory, then renamed.
	probe, err := os.CreateTemp(filepath.Dir(path), ".azsearch-*")
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s %s: directory %s does not exist: create it, or name a file elsewhere", flag, path, filepath.Dir(path))
	} else if err != nil {
		return fmt.Errorf("%s %s: %w: make the directory writable, or name a file elsewhere", flag, path, err)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// seed loads the file of -seed into srv. If that file is missing and also the file of -save, seed returns true for
// empty: it is the first start.
func seed(srv *searchtest.Server, e emulation) (empty bool, err error) {
	if e.seed == "" {
		return false, nil
	}
	err = srv.RestoreFile(e.seed)
	if errors.Is(err, fs.ErrNotExist) && sameFile(e.seed, e.save) {
		return true, nil
	}
	return false, err
}

// sameFile reports whether two paths are equal in absolute form. The files need not exist.
func sameFile(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	absoluteA, errA := filepath.Abs(a)
	absoluteB, errB := filepath.Abs(b)
	return errA == nil && errB == nil && absoluteA == absoluteB
}

// save writes a snapshot of srv to path. If that fails, for example because the disk is full, it writes to a new
// file in the directory for temporary files, and the error names it.
func save(srv *searchtest.Server, path string) error {
	err := srv.SnapshotFile(path)
	if err == nil {
		return nil
	}
	err = fmt.Errorf("saving: %w; the file is unchanged", err)
	instead, failed := os.CreateTemp("", "azsearch-*.json")
	if failed == nil {
		failed = errors.Join(srv.Snapshot(instead), instead.Close())
	}
	if failed != nil {
		return fmt.Errorf("%w, and saving elsewhere failed, too: %w", err, failed)
	}
	return fmt.Errorf("%w: the data is in %s, move it there", err, instead.Name())
}
