package searchtest

import (
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// SnapshotFile writes Snapshot to a file, which it creates or replaces as a whole:
// what is written goes to a new file beside it, which then gets its name. So a reader
// never sees half of it, and after an error, which names the file, or a crash the file
// is as it was. A file that is replaced keeps its permissions; what is no regular
// file, such as /dev/stdout, is written to.
func (s *Server) SnapshotFile(name string) error {
	if err := replaceFile(name, s.Snapshot); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}

// replaceFile writes a file by way of another one beside it.
func replaceFile(name string, write func(io.Writer) error) (err error) {
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target // the link stays
	}
	old, err := os.Stat(name)
	if err == nil && !old.Mode().IsRegular() {
		return writeInto(name, os.O_WRONLY, write)
	}
	// os.CreateTemp would not look at the umask.
	temporary := filepath.Join(filepath.Dir(name), ".searchtest-"+rand.Text())
	defer func() {
		if err != nil {
			_ = os.Remove(temporary) // it may not have come that far
		}
	}()
	if err := writeInto(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, write); err != nil {
		return err
	}
	if old != nil {
		if err := os.Chmod(temporary, old.Mode().Perm()); err != nil {
			return err
		}
	}
	return os.Rename(temporary, name)
}

// writeInto opens a file, writes it and closes it. What a regular file has is on the
// disk then: a rename may not overtake it.
func writeInto(name string, flags int, write func(io.Writer) error) error {
	f, err := os.OpenFile(name, flags, 0o644)
	if err != nil {
		return err
	}
	err = write(f)
	if err == nil && flags&os.O_CREATE != 0 {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	return err
}
