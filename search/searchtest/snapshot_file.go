package searchtest

import (
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// SnapshotFile writes a Snapshot to a file atomically: to a new file in the same folder,
// which is then renamed. A reader never sees a part of it, and after an error or a crash the
// old file is unchanged. Errors contain the file name. A replaced file keeps its permissions.
// A file that is not regular, such as /dev/stdout, is written directly.
func (s *Server) SnapshotFile(name string) error {
	if err := replaceFile(name, s.Snapshot); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}

// replaceFile writes a file by renaming a new one in the same folder.
func replaceFile(name string, write func(io.Writer) error) (err error) {
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target // a symbolic link stays
	}
	old, err := os.Stat(name)
	if err == nil && !old.Mode().IsRegular() {
		return writeInto(name, os.O_WRONLY, write)
	}
	// os.CreateTemp would ignore the umask.
	temporary := filepath.Join(filepath.Dir(name), ".searchtest-"+rand.Text())
	defer func() {
		if err != nil {
			_ = os.Remove(temporary) // the file may not exist
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

// writeInto opens a file, writes it and closes it. It syncs a regular file, because a rename
// could reach the disk before the data.
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
