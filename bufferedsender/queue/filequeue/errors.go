package filequeue

import (
	"errors"
	"fmt"
)

var (
	// ErrLocked reports that another process, or another Queue of this process, uses the directory. The error names the
	// holder.
	ErrLocked = errors.New("queue is in use")
	// ErrReadOnly reports that the queue was opened with Options.ReadOnly.
	ErrReadOnly = errors.New("queue is open for reading only")
	// ErrFormat reports that a newer version of this package wrote the directory.
	ErrFormat = errors.New("queue has a newer format")
	// ErrOther reports that the directory holds the queue of another index or endpoint.
	ErrOther = errors.New("queue belongs to another index")
	// ErrNetwork reports that the directory is on a network file system.
	ErrNetwork = errors.New("queue is on a network file system")
)

// CorruptError reports that durable data is missing or changed. Repair salvages the rest.
type CorruptError struct {
	// Segment is the number of the log file, 0 if the error names the file in Reason.
	Segment uint32
	// Offset is the position in the file.
	Offset int64
	// Reason describes the damage.
	Reason string
}

// keptError reports a bug of this package: after compaction had rewritten all keys of a segment, keys still depended on
// it, so it was kept. Nothing is lost, but the log grows until the queue is reopened.
type keptError struct {
	// Segment is the oldest file of the log.
	Segment uint32
	// Keys is the number of keys that depend on it.
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
