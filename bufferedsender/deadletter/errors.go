package deadletter

import (
	"errors"
	"fmt"

	"github.com/go-azsearch/azsearch/models"
)

var (
	// ErrClosed says that the File is closed.
	ErrClosed = errors.New("the dead letters are closed")
	// ErrLocked says that another File has the directory, in this process or in
	// another one. Senders of one process share a File.
	ErrLocked = errors.New("the dead letters are in use by another File")
	// ErrFull says that FileOptions.MaxTotalBytes is reached. Replay, Discard or
	// raise it.
	ErrFull = errors.New("the dead letters are full")
	// ErrBusy says that a Replay or Discard is going on. There is one at a time.
	ErrBusy = errors.New("another Replay or Discard of these dead letters is running")

	// ErrRedacted says of a letter that its document was not kept.
	ErrRedacted = errors.New("the document is redacted")
	// ErrNotSelected says of a letter that ReplayOptions.Select did not want it.
	ErrNotSelected = errors.New("not selected")
	// ErrHeld says of a letter that an older one of its key stays. Sent before
	// it, the letter would later be undone by it.
	ErrHeld = errors.New("an older letter of this key stays")
)

// RefusedError says that a letter was refused again.
type RefusedError struct {
	// Result is what the service says about it. Its status is 0 if there was no
	// answer, or none about this document.
	Result models.IndexingResult
}

func (e *RefusedError) Error() string {
	if e.Result.StatusCode == 0 {
		return "given up again without an answer"
	}
	if e.Result.ErrorMessage == "" {
		return fmt.Sprintf("refused again with status %d", e.Result.StatusCode)
	}
	return fmt.Sprintf("refused again with status %d: %s", e.Result.StatusCode, e.Result.ErrorMessage)
}

// DamagedError says that something in a file is not a letter.
type DamagedError struct {
	// File is the name of the file in the directory.
	File string
	// Line is the number of the line, from 1.
	Line int
	// Err is what is wrong with it.
	Err error
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("%s:%d is not a letter: %v", e.File, e.Line, e.Err)
}

// Unwrap returns Err.
func (e *DamagedError) Unwrap() error { return e.Err }

var (
	errNoResult = errors.New("the sender returned neither a result nor an error")
	errGivenUp  = fmt.Errorf("%d letters in a row were not accepted", refusedInARow)
)
