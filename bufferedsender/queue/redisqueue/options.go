package redisqueue

import (
	"errors"
	"log/slog"
	"time"
)

// Durability is what Append waits for.
type Durability int

const (
	// Server is whatever the settings of the server give.
	Server Durability = 0
	// Process is that a crash of the server's process loses nothing: the server has to have appendonly yes.
	Process Durability = -1
	// Disk is that what was acknowledged is on the server's disk: the server has to have appendonly yes
	// and appendfsync always.
	Disk Durability = -2
)

// Replicas is that n replicas have it. Append waits for them by WAIT; where fewer answer within
// five seconds its error has queue.ErrUnknown in its chain: the call may be kept, or not.
func Replicas(n int) Durability { return Durability(max(n, 1)) }

// ErrNotFound says that Options.Existing was set, and there is no such queue.
var ErrNotFound = errors.New("there is no queue of this name")

// Options are the options of Open and New. The zero value has the defaults.
type Options struct {
	// Shards is over how many hash tags the keys of a new queue are spread, up to 1024; a queue that
	// exists keeps those that it was made with, and is not opened with another number. Defaults to 1 on a
	// server and 16 on a cluster.
	Shards int
	// Durability is what Append waits for. Defaults to Server.
	Durability Durability
	// AcceptWeaker opens the queue on a server that keeps less than Durability asks for, or nothing.
	AcceptWeaker bool
	// MaxKeys and MaxBytes bound what is in the queue: keys, and bytes of keys and bodies. Each shard has an
	// equal share. 0 is no bound but the memory of the server.
	MaxKeys  int
	MaxBytes int64
	// Index and Endpoint name what the queue is for. They are written down when it is made, and it is not
	// opened under other names. Empty ones are not compared.
	Index, Endpoint string
	// Existing makes no queue: if there is none of that name, the error has ErrNotFound in its chain.
	Existing bool
	// Logger gets one line when the queue is opened, which says what it survives, and one when it was
	// repaired. Defaults to none.
	Logger *slog.Logger

	replicaTimeout time.Duration // how long Append waits for replicas, 0 for 5 s; tests change it
	// clock is the time of tests, nil for that of the server.
	clock func() time.Time
}
