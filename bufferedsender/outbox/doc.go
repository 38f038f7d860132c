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
//     transactions if each transaction writes the entity before the row, so that it holds the lock when
//     the row gets its number. The other way round the order can be wrong for ever.
//   - [WriteKeys] writes the key only, and [RelayOptions].Loader reads the document when it is
//     sent. Nothing about the order can go wrong, and a key that changes often is read once.
//   - [Table.EnsureTrigger], called at each start, has the database write the keys, whichever program changes the
//     table.
//   - outboxpgx.Queue puts the row into a pgx.Batch of yours: no round trip of its own.
//
// They can be mixed. Then a key can go back for a moment: the Loader knows more than the rows
// that are still to come. Nothing is promised about the order of different keys.
//
// # What is promised
//
//   - Rolled back: never in any request. Committed: its effect, or that of a later row of its key, is confirmed by
//     the service, or the row is a dead letter, or was purged by somebody. Also when transactions commit in another
//     order than that of their numbers, stay open for minutes, or when the database or relays crash in between.
//   - The rows of a key are applied in the order of their numbers, one request at a time. A row that cannot be
//     applied now holds its key, and no other one: it is tried again after a second, then after two, up to five
//     minutes. So does a key that the Loader fails for. While a key waits, its rows from the fifth on are deleted
//     when a later upload, delete or key replaces them; if that one becomes a dead letter, it stands for them.
//   - The database goes back (a failover to a standby that is behind, a restore, synchronous_commit = off and a crash):
//     the relay drops all that it has read, reads from the beginning, and has the Loader read the keys of which the
//     index may be ahead. Without a Loader, and for relays that were restarted at the same time, compare index and
//     source with repair.Repairer: the log says when ("server changed").
//   - At least once: what was confirmed and could not be deleted any more is sent again, and after a failure more
//     than that. Then the index can go back to an older state of a key for as long as it takes to send the newer row
//     behind it.
//   - Each key has one relay at a time. When a relay dies the others take its keys over after [RelayOptions].Lease,
//     15 seconds with the sender's defaults; when it ends in an orderly way, at their next renewal, within seconds.
//     A relay that has rows and settles none for three RequestTimeouts, because it has no Loader or its service refuses
//     it, gives its keys to the others. It tries some of them again, for ten seconds each minute, until that works; the
//     log says when it begins and ends.
//     A request that the network or the service holds back for longer than its time-out
//     can still land last: no client can exclude that. Keys without documents (WriteKeys, EnsureTrigger) heal it with
//     their next change.
//   - The service refuses a document for good: it becomes a dead letter ([Table.DeadLetters], with
//     status and message), and later rows of its key go on. [Table.Retry] brings it back.
//   - Migrate and EnsureTrigger change nothing where all is there, and otherwise all or nothing, from any number of
//     processes, while others write: a change that commits before, meanwhile or afterwards leaves its row.
//   - A transaction that is open elsewhere for an hour, a slow writer, a prepared transaction: nobody
//     else's rows wait for them.
//
// # Seeing and steering
//
// [Table.Lag] says how far behind the relays are, [Relay.Stats] what one has done, [Relay.Ready] whether it takes
// part and what fails, the sender's Health whether the service takes what is sent; TELEMETRY.md lists the metrics.
// [Table.Pause], [Table.Resume] and [Table.Purge] are kept in the database and so hold for all relays.
// [Table.Backfill] enqueues what has been there before the outbox was, behind all live rows.
//
// # What to know about the databases
//
// PostgreSQL 12 or newer. Behind PgBouncer in transaction mode all works but LISTEN. A relay takes one connection
// of its pool for good and up to three more for moments: give relays a pool of their own if that of the
// application is small. Its statements are steered away from
// sequential scans and sorts by SET LOCAL, because a queue is empty when the planner looks at it. Relays poll
// each quarter of a second with one cheap statement; with a Wake channel (outboxpgx.Listen) each fifteen seconds.
// [SchemaOptions].Rotate keeps a busy queue small while a transaction that is open for long keeps vacuum from working.
//
// MySQL and MariaDB are not supported: under their default isolation deletes wait for inserts.
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
// With the rights of a writer as well, a relay that has a Loader has keys read again after the server has gone back.
//
// # SQLite
//
// Use WAL and a busy_timeout, and begin transactions that write with BEGIN IMMEDIATE (_txlock=immediate): one
// that begins with reading fails at its first write, whatever the time-out. A second process may have relays too.
package outbox
