package disk

import (
	"bufio"
	"crypto/rand"
	"errors"
	"io/fs"
)

// Replace writes a new file and lets it replace the file of that name, durably, in the steps R1 to R4. A reader finds
// the old or the new content, complete. tmp is removed after an error. After a crash during
//
//	R1 remove tmp, create tmp        there is the old file, and perhaps tmp, which the next R1 removes
//	R2 write, sync, close            the same, and any part of tmp
//	R3 rename tmp to name            the old file or the new one, each of them whole
//	R4 sync names                    the new file: durable
func Replace(folder Folder, tmp, name string, write func(w *bufio.Writer) error) error {
	if err := WriteNew(folder, tmp, write); err != nil {
		return err
	}
	if err := folder.Rename(tmp, name); err != nil { // R3
		return errors.Join(err, Remove(folder, tmp))
	}
	return folder.SyncNames() // R4
}

// ReplaceBeside is Replace in a folder that also has the files of others, which it leaves alone: tmp has a name that
// cannot be guessed. A crash can leave that file.
func ReplaceBeside(folder Folder, name string, write func(w *bufio.Writer) error) error {
	return Replace(folder, ".azsearch-"+rand.Text()+".tmp", name, write)
}

// WriteNew writes a file and syncs it, but not its name: R1 and R2. An existing file of the name is removed first;
// after an error the new file is removed.
func WriteNew(folder Folder, name string, write func(w *bufio.Writer) error) error {
	if err := Remove(folder, name); err != nil {
		return err
	}
	h, err := folder.Create(name) // R1
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(h, 256<<10)
	err = write(w)
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = h.Sync() // R2
	}
	if err = errors.Join(err, h.Close()); err != nil {
		return errors.Join(err, Remove(folder, name))
	}
	return nil
}

// Append writes at the end of a file and syncs it, but not its name. It makes the file if there is none.
func Append(folder Folder, name string, b []byte) error {
	h, err := folder.Append(name)
	if err != nil {
		return err
	}
	_, err = h.Write(b)
	if err == nil {
		err = h.Sync()
	}
	return errors.Join(err, h.Close())
}

// Remove removes a file, if there is one.
func Remove(folder Folder, name string) error {
	if err := folder.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
