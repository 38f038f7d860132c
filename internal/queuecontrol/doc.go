// Package queuecontrol lets a command change a file queue that another process owns: the owner serves a Unix socket in
// the directory of its queue, and a Client calls it. DESIGN.md of filequeue has the guarantees for both.
package queuecontrol

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

// Queue holds the methods of a queue that an owner serves.
type Queue interface {
	Stats(ctx context.Context) (queue.Stats, error)
	Inspect(ctx context.Context, what queue.Inspection) ([]queue.Entry, error)
	Unpark(ctx context.Context, keys ...string) (int, error)
	Drop(ctx context.Context, keys ...string) (int, error)
	Pause(ctx context.Context, reason string) error
	Resume(ctx context.Context) error
}

// ErrAbsent reports that no process serves the socket of the directory.
var ErrAbsent = errors.New("no process takes commands for the queue")

const (
	socketName = "control"
	makingName = "control.making" // a directory in which the socket is made
)

// call is the name of a method of Queue. Owner and client may have different versions: gob matches fields by name.
type call string

const (
	callStats   call = "stats"
	callInspect call = "inspect"
	callUnpark  call = "unpark"
	callDrop    call = "drop"
	callPause   call = "pause"
	callResume  call = "resume"
)

// request is sent by a client; there is one on each connection.
type request struct {
	Call   call
	Reason string
	Keys   []string
	What   queue.Inspection
}

// reply is the answer to a request.
type reply struct {
	Err     string
	Changed int
	Stats   queue.Stats
	Entries []queue.Entry
}

// longestAddress is the maximum length of a socket path that works on all systems, in bytes.
const longestAddress = 100

// within calls do with a path of the directory that is short enough for a socket in it.
func within(dir string, do func(path string) error) error {
	if runtime.GOOS != "linux" || len(filepath.Join(dir, makingName, socketName)) <= longestAddress {
		return do(dir)
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return do(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
}
