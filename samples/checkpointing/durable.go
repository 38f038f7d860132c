package main

// What a crash leaves behind, line by line. "Crash" is kill -9 or a power cut.
//
//	a line is sent                   nothing is written: it is sent again
//	the service has it               the same; an upload may be repeated
//	ActionCompleted                  the mark moves in memory: as above
//	ActionFailed, refused for good   the line is in the file of refused lines, and
//	                                 on disk, before the mark moves; after a crash
//	                                 between the two it is there twice
//	save: FILE.tmp is written        the old checkpoint counts; the rest of a
//	                                 .tmp file is overwritten by the next one
//	save: FILE.tmp is on disk        the same
//	save: renamed to FILE            old or new, never a mixture: rename is atomic
//	save: the folder is on disk      the new one counts
//
// So the mark on disk is never above what is settled, and a rerun that starts
// behind it leaves no gap. What lies between it and the crash is sent twice.

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// checkpoint says that every line of the input that ends at byte Offset or before
// it is settled: in the index, or set aside in the file of refused lines.
type checkpoint struct {
	Offset int64 `json:"offset"`
}

// readCheckpoint returns the checkpoint in a file, the beginning if there is no
// such file.
func readCheckpoint(path string) (checkpoint, error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return checkpoint{}, nil
	}
	if err != nil {
		return checkpoint{}, err
	}
	var at checkpoint
	if err := json.Unmarshal(content, &at); err != nil {
		return checkpoint{}, fmt.Errorf("%s is no checkpoint: %w", path, err)
	}
	if at.Offset < 0 {
		return checkpoint{}, fmt.Errorf("%s is no checkpoint: no line ends at byte %d", path, at.Offset)
	}
	return at, nil
}

// writeCheckpoint replaces the checkpoint in a file. When it returns the new one
// survives a power cut.
func writeCheckpoint(path string, at checkpoint) error {
	content, err := json.Marshal(at)
	if err != nil {
		return err
	}
	temp := path + ".tmp" // in the same folder: a rename between file systems is not atomic
	if err := writeSynced(temp, os.O_TRUNC, content); err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// setAside appends a line to the file of refused lines, and returns when it
// survives a power cut.
func setAside(path string, record any) error {
	content, err := json.Marshal(record)
	if err != nil {
		return err
	}
	_, statErr := os.Stat(path)
	if err := writeSynced(path, os.O_APPEND, append(content, '\n')); err != nil {
		return err
	}
	if errors.Is(statErr, fs.ErrNotExist) {
		return syncFolder(filepath.Dir(path))
	}
	return nil
}

func writeSynced(path string, how int, content []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|how, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Sync(), f.Close())
}

// syncFolder makes the names in a folder survive a power cut.
func syncFolder(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // cannot sync folders; NTFS journals names itself
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
