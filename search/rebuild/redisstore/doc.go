// Package redisstore is a rebuild.Store on a Redis server or a Redis Cluster, for programs without a PostgreSQL
// database that all of them reach.
// The package is experimental: its API may change in any release.
//
//	store, err := redisstore.New(client, redisstore.Options{Name: "hotels", Replicas: 1})
//	err = store.Check(ctx) // once
//	tap, err := rebuild.NewTap(ctx, store, rebuild.TapOptions{…})
//
// It needs Redis 7.0 or later. A store has three keys with one hash tag and without an expiry: the record; the marks of
// the rebuild under way, about a hundred bytes plus the key for each; and the writers. Reads always go to the master,
// whatever the client does with other reads; a replica refuses them.
//
// # Required server settings
//
// A lost mark is a write that may be missing from the new index, without an error. So
//
//   - set maxmemory-policy to noeviction or a volatile policy: [Store.Check]. A server whose memory is full still
//     accepts marks, beyond maxmemory, because a sender that drains a queue on the same server marks each key before
//     its request. Run and Abort continue too. A mark stays until Run has written its key to the new index, so leave
//     room above maxmemory for the keys written between two rounds of Run, or for all keys if Run may be down.
//   - set appendonly to yes: [Store.Check]. With appendfsync everysec a crash of the Redis process loses nothing, but a
//     crash of the machine may lose the marks of the last second or two; with appendfsync always it does not.
//   - set Options.Replicas if a replica can take over. Without it a failover loses the marks that the replica lacks.
//     With it a failover to a replica that has answered loses nothing. If there are more replicas than
//     Options.Replicas, another one may be promoted; so require all but the one that may be down, or all. Reads of the
//     record and of marks wait for replicas too, so that a replaced master that was cut off can neither return its old
//     record as the newest, nor report that no keys are marked.
//
// If a rebuild was under way and the server has lost data anyway, call rebuild.Abort and start over; afterwards package
// repair finds what is missing.
//
// # Lost keys
//
// If the record was flushed or deleted, the store has no record. Existing taps then return an error and neither send
// nor confirm anything: at once during a rebuild, otherwise at their next read, within TapOptions.IdleValid. A Run ends
// with rebuild.ErrTakenOver at its next change of the record.
//
// The next NewTap creates a new record, with TapOptions.Index as its index. Give it the index that writers used
// last, not the one from before the last rebuild. Existing taps use the record that they read last, whatever its
// version. The new index of an interrupted rebuild and the alias stay as they were: check where the alias points,
// and delete the other index.
//
// If only the marks were deleted, Run detects that their number differs from the record, and stops with an error before
// the alias moves; then call rebuild.Abort. A restored backup, or a log without its end, has an earlier state of both,
// which is not detected.
package redisstore
