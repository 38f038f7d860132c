package deadletter

import (
	"errors"
	"fmt"

	"github.com/go-azsearch/azsearch/models"
)

var (
	// ErrClosed means that the File is closed.
	ErrClosed = errors.New("dead letters are closed")
	// ErrLocked means that another File, in this or another process, has the directory. Senders of one process share a
	// File.
	ErrLocked = errors.New("dead letters are in use by another File")
	// ErrFull means that FileOptions.MaxTotalBytes is reached. Replay or Discard, or raise it.
	ErrFull = errors.New("dead letters are full")
	// ErrBusy means that another Replay or Discard is running. Only one can run at a time.
	ErrBusy = errors.New("another Replay or Discard of these dead letters is running")

	// ErrRedacted means that the document of a dead letter was not kept.
	ErrRedacted = errors.New("document is redacted")
	// ErrNotSelected means that ReplayOptions.Select returned false.
	ErrNotSelected = errors.New("not selected")
	// ErrHeld means that an older dead letter of the same key stays. If the newer one were sent first, the older one would
	// later overwrite it.
	ErrHeld = errors.New("older dead letter of this key stays")
)

// RefusedError means that a dead letter was refused again.
type RefusedError struct {
	// Result is the service's answer. Its status is 0 without an answer, or without one about this document.
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

// DamagedError means that a line of a file is not a dead letter, or that the file ends there although more dead letters
// were durable.
type DamagedError struct {
	// File is the name of the file in the directory.
	File string
	// Line is the number of the line, from 1.
	Line int
	// Err is the reason.
	Err error
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("%s:%d is not a dead letter: %v", e.File, e.Line, e.Err)
}

// Unwrap returns Err.
func (e *DamagedError) Unwrap() error { return e.Err }

var (
	errNoResult  = errors.New("the sender returned neither a result nor an error")
	errWithdrawn = fmt.Errorf("%d more dead letters were refused, each alone", refusedInARow)
	errGivenUp   = fmt.Errorf("%d dead letters in a row were not accepted", refusedInARow)
)
