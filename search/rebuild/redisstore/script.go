package redisstore

import (
	"embed"

	"github.com/redis/go-redis/v9"

	"github.com/go-azsearch/azsearch/internal/redislua"
)

//go:embed lua/*.lua
var files embed.FS

// The Lua scripts. Redis is asked to run them by the name that it knows them by when it has had them once. Those that read
// are of the kind Writes, so that a replica refuses them: its record may be old. So is that of marks: a sender that drains a
// queue on the same server marks each key before its request, so a mark that is refused for want of room keeps the room.
var (
	loadScript     = scriptOf(redislua.Writes, "load")
	swapScript     = scriptOf(redislua.Writes, "swap")
	markScript     = scriptOf(redislua.Writes, "mark")
	markedScript   = scriptOf(redislua.Writes, "marked")
	unmarkScript   = scriptOf(redislua.Writes, "unmark")
	registerScript = scriptOf(redislua.Writes, "register")
	writersScript  = scriptOf(redislua.Writes, "writers")
)

func scriptOf(kind redislua.Kind, name string) *redis.Script {
	return redis.NewScript(kind.Load(files, name))
}
