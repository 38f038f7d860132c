package filequeue

import (
	"errors"
	"fmt"
)

var (
	// ErrLocked says that the queue is in use by another process, or elsewhere in this one.
	// The error names the holder.
	ErrLocked = errors.New("the queue is in use")
	// ErrReadOnly says that the queue was opened with Options.ReadOnly.
	ErrReadOnly = errors.New("the queue is open for reading only")
	// ErrFormat says that the directory was written by a newer version of this package.
	ErrFormat = errors.New("the queue has a newer format")
	// ErrOther says that the directory holds the queue of another index or endpoint.
	ErrOther = errors.New("the queue belongs to another index")
	// ErrNetwork says that the directory is on a file system of the network.
	ErrNetwork = errors.New("the queue is on a network file system")
)

// CorruptError says that something which was durable is not there any more, or is not what it
// was. Repair salvages the rest.
type CorruptError struct {
	// Segment is the file of the log in which it was found, 0 if it is a file that is missing.
	Segment uint32
	// Offset is where in the file.
	Offset int64
	// Reason says what is wrong.
	Reason string
}

// keptError says that compaction has kept a segment because keys still depended on it after all of its keys had been
// written to later ones, which is a bug of this package: nothing is lost, but the log grows until the queue is opened
// again.
type keptError struct {
	// Segment is the oldest file of the log.
	Segment uint32
	// Keys is how many keys depend on it.
	Keys int
}

func (e *keptError) Error() string {
	return fmt.Sprintf("filequeue: %s kept: %d keys still depend on it after compaction, so the log grows; reopen the queue",
		segmentName(e.Segment), e.Keys)
}

func (e *CorruptError) Error() string {
	if e.Segment == 0 {
		return "the queue is damaged: " + e.Reason
	}
	return fmt.Sprintf("the queue is damaged: %s at byte %d: %s", segmentName(e.Segment), e.Offset, e.Reason)
}
