package redisqueue

import (
	"errors"
	"log/slog"
	"time"
)

// Durability is the condition for which Append waits.
type Durability int

const (
	// Server accepts the durability that the server's settings give.
	Server Durability = 0
	// Process requires that a crash of the server process loses nothing: the server must have appendonly yes.
	Process Durability = -1
	// Disk requires that acknowledged records are on the server's disk: the server must have appendonly yes and
	// appendfsync always.
	Disk Durability = -2
)

// Replicas requires that n replicas have the records; n below 1 counts as 1. Append waits for them with WAIT. If fewer
// answer within five seconds, its error has queue.ErrUnknown in its chain: the call may have been applied or not.
func Replicas(n int) Durability { return Durability(max(n, 1)) }

// ErrNotFound reports that Options.Existing is set, and no queue of this name exists.
var ErrNotFound = errors.New("no queue has this name")

// Options configures Open and New. The zero value has the defaults.
type Options struct {
	// Shards is the number of shards of a new queue, up to 1024. It cannot be changed later: opening a queue with
	// another number is an error. Defaults to 1 on a server and 16 on a cluster, for an existing queue to its number.
	Shards int
	// Durability is the condition for which Append waits. Defaults to Server.
	Durability Durability
	// AcceptWeaker opens the queue on a server that keeps less than Durability requires, or nothing. Defaults to false.
	AcceptWeaker bool
	// MaxKeys is the maximum number of keys, and MaxBytes that of bytes of keys and bodies. Each shard has an equal
	// share. Defaults to 0: limited by the memory of the server only.
	MaxKeys  int
	MaxBytes int64
	// Index and Endpoint identify the search index. They are stored when the queue is made; opening it with others is
	// an error. Empty ones are not compared.
	Index, Endpoint string
	// Existing opens an existing queue only: if there is none, the error has ErrNotFound in its chain. Defaults to
	// false.
	Existing bool
	// Logger receives one line when the queue is opened, with the result of Survives, one after a repair, and one if a
	// watcher gets no notifications. Defaults to none.
	Logger *slog.Logger

	replicaTimeout time.Duration // how long Append waits for replicas, 0 means 5 s; set by tests
	// clock is the time in tests, nil for that of the server.
	clock func() time.Time
}
