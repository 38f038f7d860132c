package redisstore

import (
	"embed"

	"github.com/go-azsearch/azsearch/internal/rediskit"
)

//go:embed lua/*.lua
var files embed.FS

// The Lua scripts. Scripts that only read are declared as writing, so that a replica, whose record may be old, refuses
// them. Marking is allowed when memory is full: a sender that drains a queue on the same server marks each key before
// its request, so refused marks would keep the queue from shrinking.
var (
	loadScript     = rediskit.Writes.Load(files, "load")
	swapScript     = rediskit.Writes.Load(files, "swap")
	markScript     = rediskit.Writes.Load(files, "mark")
	markedScript   = rediskit.Writes.Load(files, "marked")
	unmarkScript   = rediskit.Writes.Load(files, "unmark")
	registerScript = rediskit.Writes.Load(files, "register")
	writersScript  = rediskit.Writes.Load(files, "writers")
)
