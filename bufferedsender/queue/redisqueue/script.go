package redisqueue

import (
	"embed"

	"github.com/go-azsearch/azsearch/internal/rediskit"
)

//go:embed lua/*.lua
var files embed.FS

// The scripts. Only that of Append is refused while the memory of the server is full: a queue that cannot be opened,
// inspected and sent from cannot be drained. Only Repair runs on a shard of which something is gone, see intact.lua.
var (
	openScript     = rediskit.Writes.Load(files, "open")
	destroyScript  = rediskit.Writes.Load(files, "destroy")
	appendScript   = rediskit.Adds.Load(files, "shard", "intact", "append")
	adderScript    = rediskit.Reads.Load(files, "shard", "intact", "adder")
	exchangeScript = rediskit.Writes.Load(files, "shard", "intact", "exchange")
	extendScript   = rediskit.Writes.Load(files, "shard", "intact", "extend")
	settledScript  = rediskit.Writes.Load(files, "shard", "intact", "settled")
	statsScript    = rediskit.Writes.Load(files, "shard", "intact", "stats") // ends leases that have run out, as peek does
	adminScript    = rediskit.Writes.Load(files, "shard", "intact", "admin")
	peekScript     = rediskit.Writes.Load(files, "shard", "intact", "peek")
	nextScript     = rediskit.Reads.Load(files, "shard", "intact", "next")
	repairScript   = rediskit.Writes.Load(files, "shard", "repair")
)
