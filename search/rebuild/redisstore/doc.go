// Package redisstore keeps what the writers of an index and its rebuild share, a rebuild.Store, on a Redis server or
// a Redis Cluster: for programs that have one, and no PostgreSQL that all of them reach.
// The package is experimental: its API may change in any release.
//
//	store, err := redisstore.New(client, redisstore.Options{Name: "hotels", Replicas: 1})
//	err = store.Check(ctx) // once
//	tap, err := rebuild.NewTap(ctx, store, rebuild.TapOptions{…})
//
// It needs Redis 7.0 or later. Three keys, of one hash tag and without an expiry, hold all of a store: the record,
// the marks of the rebuild under way, a hundred bytes or so and the key for each, and the writers. Reads go to the
// master, as writes do, whatever the client does with other reads; a replica refuses them.
//
// # What the server must keep
//
// A mark that was acknowledged and then lost is a write that may be missing from the new index, and nobody is told. So
//
//   - maxmemory-policy noeviction, or one of the volatile ones: [Store.Check]. A server whose memory is full still
//     takes marks, beyond maxmemory, because the senders that drain a queue on the same server mark each key before
//     its request. Run and Abort continue, too. A mark stays until Run has written its key to the new index, so leave
//     room above maxmemory for the keys that are written between two rounds of Run, or for all keys if Run may be
//     down.
//   - appendonly yes: [Store.Check]. With appendfsync everysec a crash of the server's process loses nothing, but
//     when its machine goes down the marks of the last second or two may be lost. With appendfsync always none are.
//   - Where a replica takes over: Options.Replicas. Without it a failover loses the marks that the replica lacks.
//     With it a failover to one of the replicas that have answered loses nothing; with more replicas than
//     Options.Replicas the one that is promoted may be another, so ask for all but the one that may be down, and for
//     all if none may. It has reads of the record and of marks wait too: a master that was cut off and replaced
//     cannot pass its old record off as the newest, nor say that nothing is marked.
//
// If something was lost all the same while a rebuild was under way, call rebuild.Abort and begin anew; after it the
// repair package finds what is missing.
//
// # When the keys are lost
//
// A record that was flushed or deleted is as if there were none. Nothing takes the place of it silently: taps that
// were made before return an error, and send and confirm nothing, if a rebuild was under way, and else at their next
// read, after TapOptions.IdleValid at the most. A Run ends with rebuild.ErrTakenOver at its next change of the
// record.
//
// The next NewTap makes a new record, with TapOptions.Index as its index. Give it the index that writers wrote to
// last, not the one from before the last rebuild. Versions do not go back: those of a new record begin at the time of
// the server in microseconds, so taps that were made before take it for what it is, a newer one. (A clock of the
// server that was put back to before the old record was made would break that.) The new index of the rebuild that was
// under way, and the alias, are left as they were: see where the alias is, and delete the other index.
//
// If only the marks were deleted, Run finds that their number is not what the record has, and stops with an error
// before the alias moves; call rebuild.Abort then. A restored backup, or a log whose end was lost, has both as they
// were at some time before: that is not found.
package redisstore
