// Package redisqueue is for programs that share the durable queue of a buffered sender: any number of
// processes append to it and send from it, with a Redis server or a Redis Cluster between them.
// The package is stable.
//
//	q, err := redisqueue.Open("redis://localhost:6379", "hotels", nil)
//
// It needs Redis 7.0 or later; New and Open refuse an older one. Where one process on one machine is enough,
// filequeue needs no server and keeps more.
//
// # What it survives
//
// Append returns nil when the server has it: what the server then survives is the server's business,
// its settings are read at the opening, and Queue.Survives says it in words. Open refuses a server that
// keeps nothing across its own restart, that evicts keys when its memory is full, that is a replica, or that
// keeps less than Options.Durability asks for, unless Options.AcceptWeaker is set. In short:
//
//   - appendonly yes, appendfsync everysec: a crash of the server's process; up to a second or two of what was
//     acknowledged is lost when the machine goes down.
//   - appendonly yes, appendfsync always: that as well. Ask for it with Disk.
//   - a failover to a replica loses what the replica lacks, and no call returns an error for it: Flush may return nil.
//     Replicas(n) has Append wait until n of them have it; without it compare index and source after a failover, with
//     repair.Repairer.
//
// Power loss was not tried, only kill -9.
//
// After a Redis key of the queue was deleted or evicted each call returns queue.ErrLost with the name of that key,
// until Queue.Repair has put everything in its place again. Only without the records themselves (":r") or the
// marker (":m") are changes lost.
//
// Leases and delays last no longer when the clock of the server goes back. When it jumps ahead they end early: the
// holders find them stale, and their keys are sent again.
//
// # When the memory of the server is full
//
// With maxmemory and noeviction Append then returns an error with queue.ErrFull in its chain, and keeps nothing. All
// other calls work: Open, Watch, Stats, the methods of queue.Admin, Reserve, Extend and Settle. So a full queue can be
// drained, also by a process that starts meanwhile, and each commit makes room. Room that other keys take, only their
// owners can free.
//
// # When the queue itself is full
//
// MaxKeys and MaxBytes bound what waits or is leased. Parked keys have a share of their own that is as large; what
// exceeds it takes room of the others. Queue.Fault, and with it the Health of a sender, says when that share is used
// up.
//
// # What a call is
//
// The keys of a queue are spread over shards, 1 on a server and 16 on a cluster unless
// Options.Shards says otherwise, for the life of the queue. A script works on one shard, and on at most 1000
// entries or 1 MB of them, because it blocks the server while it runs. So an Append is
// all or nothing for each shard and each thousand of its entries. One that needs several scripts may be applied in
// part when it fails: its error then has queue.ErrUnknown in its chain, and whoever repeats the call under its
// number has the rest applied, and nothing twice. Keys have an order among those of their shard.
//
// Calls are tried again, with a growing pause, for as long as ctx allows while the server cannot be reached,
// loads its data or fails over, and while a slot of a cluster moves.
package redisqueue
