package redisstore

import (
	"embed"

	"github.com/go-azsearch/azsearch/internal/rediskit"
)

//go:embed lua/*.lua
var files embed.FS

// The Lua scripts. Those that read are of the kind Writes, so that a replica refuses them: its record may be old. So
// is that of marks: a sender that drains a queue on the same server marks each key before its request, so a mark that
// is refused for want of room keeps the room.
var (
	loadScript     = rediskit.Writes.Load(files, "load")
	swapScript     = rediskit.Writes.Load(files, "swap")
	markScript     = rediskit.Writes.Load(files, "mark")
	markedScript   = rediskit.Writes.Load(files, "marked")
	unmarkScript   = rediskit.Writes.Load(files, "unmark")
	registerScript = rediskit.Writes.Load(files, "register")
	writersScript  = rediskit.Writes.Load(files, "writers")
)
