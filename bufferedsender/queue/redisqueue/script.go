package redisqueue

import (
	"crypto/sha1" //nolint:gosec // Redis names scripts by it
	"embed"
	"encoding/hex"

	"github.com/go-azsearch/azsearch/internal/redislua"
)

// script is a Lua script as Redis gets it, and the name by which Redis knows it afterwards.
type script struct{ source, sha string }

//go:embed lua/*.lua
var files embed.FS

// The scripts. Only that of Append is refused while the memory of the server is full: a queue that cannot be opened,
// inspected and sent from cannot be drained.
var (
	openScript     = scriptOf(redislua.Writes, "open")
	destroyScript  = scriptOf(redislua.Writes, "destroy")
	appendScript   = scriptOf(redislua.Adds, "shard", "append")
	adderScript    = scriptOf(redislua.Reads, "shard", "adder")
	exchangeScript = scriptOf(redislua.Writes, "shard", "exchange")
	extendScript   = scriptOf(redislua.Writes, "shard", "extend")
	settledScript  = scriptOf(redislua.Writes, "shard", "settled")
	statsScript    = scriptOf(redislua.Writes, "shard", "stats") // ends leases that have run out, as peek does
	adminScript    = scriptOf(redislua.Writes, "shard", "admin")
	peekScript     = scriptOf(redislua.Writes, "shard", "peek")
	nextScript     = scriptOf(redislua.Reads, "shard", "next")
	repairScript   = scriptOf(redislua.Writes, "shard", "repair")
)

// scriptOf is a script of the files of these names, one after the other.
func scriptOf(kind redislua.Kind, names ...string) *script {
	source := kind.Load(files, names...)
	sum := sha1.Sum([]byte(source)) //nolint:gosec // Redis names scripts by it
	return &script{source, hex.EncodeToString(sum[:])}
}
