package redisqueue

import (
	"embed"

	"github.com/go-azsearch/azsearch/internal/rediskit"
)

//go:embed lua/*.lua
var files embed.FS

// The scripts. While the memory of the server is full only that of Append is refused, so that a full queue can be
// opened, inspected and drained. On a shard with missing Redis keys only Repair runs, see intact.lua.
var (
	openScript     = rediskit.Writes.Load(files, "open")
	destroyScript  = rediskit.Writes.Load(files, "destroy")
	appendScript   = rediskit.Adds.Load(files, "shard", "intact", "append")
	adderScript    = rediskit.Reads.Load(files, "shard", "intact", "adder")
	exchangeScript = rediskit.Writes.Load(files, "shard", "intact", "exchange")
	extendScript   = rediskit.Writes.Load(files, "shard", "intact", "extend")
	settledScript  = rediskit.Writes.Load(files, "shard", "intact", "settled")
	statsScript    = rediskit.Writes.Load(files, "shard", "intact", "stats") // ends expired leases, as peek does
	adminScript    = rediskit.Writes.Load(files, "shard", "intact", "admin")
	peekScript     = rediskit.Writes.Load(files, "shard", "intact", "peek")
	nextScript     = rediskit.Reads.Load(files, "shard", "intact", "next")
	repairScript   = rediskit.Writes.Load(files, "shard", "repair")
)
