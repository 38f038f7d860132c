// Package outbox is for programs that keep their truth in a SQL database and want a search
// index to follow it: what a transaction commits reaches the index, what it rolls back never
// does. It works on PostgreSQL and SQLite, through database/sql and any driver; package
// outboxpgx is for programs that use pgx itself.
// The package is experimental: its API may change in any release.
//
// # What you write
//
// Once, and at each start of the program:
//
//	hotels := &outbox.Table{Dialect: outbox.PostgreSQL, Queue: "hotels"}
//	err := outbox.Migrate(ctx, db, outbox.PostgreSQL, nil)     // does nothing where outbox.Schema was run by a migration of yours
//
// Where the truth changes:
//
//	tx, _ := db.BeginTx(ctx, nil)
//	_, err = tx.ExecContext(ctx, `UPDATE hotels SET …`)         // the entity first
//	err = outbox.Write(ctx, tx, hotels, models.UploadAction(doc)) // then the row, in the same transaction
//	err = tx.Commit()
//
// And in any number of processes, these or others:
//
//	sender, err := bufferedsender.New(client, &bufferedsender.Options[Hotel]{AutoFlushInterval: 50 * time.Millisecond})
//	relay, err := outbox.NewRelay(db, hotels, sender.Raw(), nil)
//	err = relay.Run(ctx)                                        // until ctx ends; then close the sender
//
// AutoFlushInterval is how long a row waits for others to share a request with: the sender's
// default is five seconds.
//
// # Four ways to write, and what order each one promises
//
//   - [Write] writes the action. The actions of a key are applied in the order of the
//     transactions if each writes the entity before the row, so that it holds the lock when
//     the row gets its number. The other way round the order can be wrong for ever.
//   - [WriteKeys] writes the key only, and [RelayOptions].Loader reads the document when it
//     is sent. Nothing about the order can go wrong, and a key that changes often is read once.
//   - [Table.EnsureTrigger], called at each start, has the database write the keys,
//     whichever program changes the table.
//   - outboxpgx.Queue puts the row into a pgx.Batch of yours: no round trip of its own.
//
// They can be mixed; then a key can go back for a moment, because the Loader knows more
// than the rows behind it. Nothing is promised about the order of different keys.
//
// # What is promised
//
//   - Rolled back: never in any request. Committed: its effect, or that of a later row of its
//     key, is confirmed by the service, or the row is a dead letter, or was purged. No other
//     row waits for a transaction that stays open.
//   - The rows of a key are applied in the order of their numbers, one request at a time. A
//     row that cannot be applied now, or loaded, holds its key and no other one: it is tried
//     again after a second, then after two, up to five minutes.
//   - Delivery is at least once: what was confirmed and not yet deleted may be sent again, and
//     a key goes back until the newer row behind it is sent.
//   - Each key has one relay at a time. When a relay dies the others take its keys over after
//     RelayOptions.Lease (15 s with the sender's defaults), after an orderly end within
//     seconds. A relay that settles nothing for three RequestTimeouts gives its keys to the
//     others, and tries some again for ten seconds each minute.
//   - The database goes back (a failover to a standby that is behind, a restore, a crash with
//     synchronous_commit = off): the relay reads from the beginning, and has the Loader read
//     the keys of which the index may be ahead. Without a Loader, and for relays that were
//     restarted meanwhile, compare with repair.Repairer when the log says "server changed".
//   - A document that the service refuses becomes a dead letter ([Table.DeadLetters]), and
//     later rows of its key continue. [Table.Retry] brings it back.
//   - A request that the network or the service holds back for longer than its time-out can
//     land last: no client can exclude that. Keys without documents heal it.
//   - [Migrate] and EnsureTrigger run in any number of processes, while others write, and
//     change everything or nothing.
//
// # Operating it
//
// [Table.Lag] says how far behind the relays are, [Relay.Stats] what one has done,
// [Relay.Ready] what fails, the sender's Health whether the service takes what is sent;
// TELEMETRY.md lists the metrics. [Table.Pause], [Table.Resume] and [Table.Purge] hold for all
// relays. [Table.Backfill] enqueues what was there before the outbox, behind all live rows.
//
// # Databases
//
// PostgreSQL 12 or newer. Behind PgBouncer in transaction mode all works but LISTEN. A relay
// takes one connection of its pool for good and up to three more for moments. It polls each
// quarter of a second with one cheap statement; with a Wake channel (outboxpgx.Listen) each
// fifteen seconds. SchemaOptions.Rotate keeps a busy queue small while a long transaction keeps
// vacuum from working. MySQL and MariaDB are not supported: under their default isolation
// deletes wait for inserts.
//
// SQLite needs WAL and a busy_timeout, and transactions that write begin with BEGIN IMMEDIATE
// (_txlock=immediate): one that begins with reading fails at its first write.
//
// # Rights on PostgreSQL
//
// The role that calls Migrate owns the tables. A role that writes rows, itself or by a trigger, needs
//
//	GRANT INSERT ON azsearch_outbox TO writer; -- with Table.Notify also SELECT (queue)
//	GRANT USAGE ON SEQUENCE azsearch_outbox_seq TO writer;
//
// and a role that runs a relay
//
//	GRANT SELECT, UPDATE, DELETE ON azsearch_outbox TO relay;
//	GRANT SELECT, INSERT, UPDATE, DELETE ON azsearch_outbox_lease, azsearch_outbox_dead, azsearch_outbox_tombstone TO relay;
//	GRANT SELECT, INSERT ON azsearch_outbox_nonce TO relay;
//	GRANT SELECT ON azsearch_outbox_queue, azsearch_outbox_version TO relay;
//	GRANT SELECT ON SEQUENCE azsearch_outbox_seq TO relay;
//
// With the rights of a writer as well, a relay that has a Loader has keys read again after
// the server has gone back.
package outbox
