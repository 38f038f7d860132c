package redisqueue

import (
	"embed"

	"github.com/go-azsearch/azsearch/internal/rediskit"
)

//go:embed lua/*.lua
var files embed.FS

// The scripts. Only that of Append is refused while the memory of the server is full: a queue that cannot be opened,
// inspected and sent from cannot be drained.
var (
	openScript     = rediskit.Writes.Load(files, "open")
	destroyScript  = rediskit.Writes.Load(files, "destroy")
	appendScript   = rediskit.Adds.Load(files, "shard", "append")
	adderScript    = rediskit.Reads.Load(files, "shard", "adder")
	exchangeScript = rediskit.Writes.Load(files, "shard", "exchange")
	extendScript   = rediskit.Writes.Load(files, "shard", "extend")
	settledScript  = rediskit.Writes.Load(files, "shard", "settled")
	statsScript    = rediskit.Writes.Load(files, "shard", "stats") // ends leases that have run out, as peek does
	adminScript    = rediskit.Writes.Load(files, "shard", "admin")
	peekScript     = rediskit.Writes.Load(files, "shard", "peek")
	nextScript     = rediskit.Reads.Load(files, "shard", "next")
	repairScript   = rediskit.Writes.Load(files, "shard", "repair")
)
