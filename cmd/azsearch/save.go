package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/go-azsearch/azsearch/search/searchtest"
)

// checkSave says before anything starts why a file could not be written at the end.
// It leaves nothing behind.
func checkSave(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fmt.Errorf("-save cannot be used: %w", err)
	case info.IsDir():
		return fmt.Errorf("-save %s is a folder: name a file in it", path)
	case !info.Mode().IsRegular():
		return nil // a device or a pipe is opened when there is something to write
	default:
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return fmt.Errorf("-save cannot be used: %w: make the file writable, or name another", err)
		}
		_ = f.Close()
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return fmt.Errorf("-save cannot be used: %w", err)
		}
	}
	// It is written by way of a new file beside it.
	probe, err := os.CreateTemp(filepath.Dir(path), ".azsearch-*")
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("-save %s: there is no folder %s: make it, or name a file elsewhere", path, filepath.Dir(path))
	} else if err != nil {
		return fmt.Errorf("-save %s: %w: make the folder writable, or name a file elsewhere", path, err)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// seed puts what a file has into srv. The file of -save may be missing, which is so
// when it is the first time: empty is true then.
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

// sameFile reports whether two paths are one, neither of which needs to be there.
func sameFile(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	absoluteA, errA := filepath.Abs(a)
	absoluteB, errB := filepath.Abs(b)
	return errA == nil && errB == nil && absoluteA == absoluteB
}

// save writes what srv holds. If the file cannot be written any more, for example
// because the disk is full, a file for temporary ones gets it.
func save(srv *searchtest.Server, path string) error {
	err := srv.SnapshotFile(path)
	if err == nil {
		return nil
	}
	err = fmt.Errorf("saving: %w; that file is as it was before", err)
	instead, failed := os.CreateTemp("", "azsearch-*.json")
	if failed == nil {
		failed = errors.Join(srv.Snapshot(instead), instead.Close())
	}
	if failed != nil {
		return fmt.Errorf("%w, and nothing is saved elsewhere either: %w", err, failed)
	}
	return fmt.Errorf("%w: everything is in %s instead, move it there", err, instead.Name())
}
