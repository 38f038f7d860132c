package hints

import (
	"errors"
	"fmt"
)

var (
	// ErrClosed says that the Set is closed.
	ErrClosed = errors.New("the repair hints are closed")
	// ErrLocked says that another Set has the folder, in this process or in another one.
	ErrLocked = errors.New("the repair hints are in use by another Set")
	// ErrRefused says that something cannot be the key of a document, or the name of an index.
	ErrRefused = errors.New("no key of a document")
)

// DamagedError says that a file of hints cannot be read, and that it was not a crash that left it so. Hints are
// missing, perhaps those of an index that nobody can name: all indexes should be compared. Options.AcceptDamage goes
// on with what can be read.
type DamagedError struct {
	// File is the name of the file in the folder.
	File string
	// Offset is where in it the damage begins, in bytes.
	Offset int64
	// Reason says what is wrong there.
	Reason string
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("%s is damaged at byte %d: %s; compare all indexes, and set AcceptDamage or remove the file", e.File, e.Offset, e.Reason)
}
