// Package redisqueue is a durable queue on a Redis server or Redis Cluster, for buffered senders in any number of
// processes, which append to it and send from it. The package is stable.
//
//	q, err := redisqueue.Open("redis://localhost:6379", "hotels", nil)
//
// It needs Redis 7.0 or later; New and Open refuse an older one. If one process on one machine is enough, use
// filequeue: it needs no server and is more durable.
//
// # What it survives
//
// Append returns nil when the server has applied the call. Durability then depends on the settings of the server: New
// and Open read them, and Queue.Survives describes the result. A server is refused if it keeps nothing across its own
// restart, evicts keys when its memory is full, is a replica, or keeps less than Options.Durability requires, unless
// Options.AcceptWeaker is set. In short:
//
//   - appendonly yes, appendfsync everysec: survives a crash of the server process. If its machine fails, acknowledged
//     records of the last one or two seconds are lost.
//   - appendonly yes, appendfsync always: survives a machine failure as well. Require this with Disk.
//   - A failover to a replica loses the records that the replica lacks. No call returns an error then, so Flush may
//     return nil. With Replicas(n), Append waits until n replicas have the records. Without it, run repair.Repairer
//     after a failover, to compare index and source.
//   - Leases wait for no replica: a master that is cut off gives and extends them although its replica was promoted, so
//     two processes may send one key. The setting min-replicas-to-write 1 of the server bounds that time.
//
// Tested with kill -9 only, not with power failures.
//
// If a Redis key of the queue was deleted or evicted, each call returns queue.ErrLost with the name of that key, until
// Queue.Repair has rebuilt the queue. Changes are lost only if the records (":r") or the marker (":m") are gone.
//
// If the clock of the server goes back, leases and delays do not last longer. If it jumps ahead they end early: the
// leases become stale, and their keys are sent again.
//
// # When the memory of the server is full
//
// With maxmemory and noeviction, Append then returns an error with queue.ErrFull in its chain, and keeps nothing. All
// other calls work: Open, Watch, Stats, the methods of queue.Admin, Reserve, Extend and Settle. So a full queue can be
// drained, also by a process that starts then, and each commit makes room. Memory used by other Redis keys is not freed
// by draining.
//
// # When the queue itself is full
//
// MaxKeys and MaxBytes limit what waits or is leased. Parked keys have a share of their own of the same size; only what
// exceeds it takes room from other keys. Queue.Fault, and through it the Health of a sender, reports when that share is
// used up.
//
// # Atomicity and order
//
// The keys of a queue are spread over shards: 1 on a server and 16 on a cluster, unless Options.Shards says otherwise
// when the queue is made. A script works on one shard, and on at most 1000 entries or 1 MB of them, because it blocks
// the server while it runs. So an Append is all or nothing for each shard and each thousand of its entries. An Append
// that needs several scripts may fail when a part of it was applied. Its error then has queue.ErrUnknown in its chain;
// repeating the call with the same number applies the rest, and nothing twice. Keys are ordered within their shard.
//
// Calls are retried with a growing back-off until ctx ends while the server is unreachable, loads its data or fails
// over, and while a slot of a cluster moves.
package redisqueue
