// Package outbox makes a search index follow a SQL database: what a transaction commits reaches the index; what it
// rolls back never does. It works on PostgreSQL and SQLite, through database/sql and any driver; package outboxpgx is
// for programs that use pgx directly. The package is experimental: its API may change in any release.
//
// # Usage
//
// Once, at each start of the program:
//
//	hotels := &outbox.Table{Dialect: outbox.PostgreSQL, Queue: "hotels"}
//	err := outbox.Migrate(ctx, db, outbox.PostgreSQL, nil)     // does nothing if your migration has run outbox.Schema
//
// Where the program changes an entity:
//
//	tx, _ := db.BeginTx(ctx, nil)
//	_, err = tx.ExecContext(ctx, `UPDATE hotels SET …`)         // the entity first
//	err = outbox.Write(ctx, tx, hotels, models.UploadAction(doc)) // then the row, in the same transaction
//	err = tx.Commit()
//
// And in one or more processes, the same or others:
//
//	sender, err := bufferedsender.New(client, &bufferedsender.Options[Hotel]{AutoFlushInterval: 50 * time.Millisecond})
//	relay, err := outbox.NewRelay(db, hotels, sender.Raw(), nil)
//	err = relay.Run(ctx)                                        // until ctx ends; then close the sender
//
// AutoFlushInterval is how long a row waits so that others can share its request; the sender's default is five seconds.
//
// # Four ways to write, and their guarantees of order
//
//   - [Write] writes the action. The actions of a key are applied in the order of the transactions if each transaction
//     writes the entity before the row, so that it holds the lock when the row gets its number. In the opposite order
//     the index can keep the older state forever.
//   - [WriteKeys] writes the key only, and [RelayOptions].Loader reads the document when it is sent. The order cannot
//     go wrong, and a key that changes often is read once.
//   - [Table.EnsureTrigger], called at each start, makes the database write the keys, whichever program changes the
//     table.
//   - outboxpgx.Queue adds the row to a pgx.Batch, so that it needs no round trip.
//
// They can be mixed. Then a document can go back to an older state for a moment, because the Loader may read a state
// newer than that of the rows still behind it. There is no order between different keys.
//
// # Guarantees
//
//   - A row that was rolled back is in no request. For a committed row the service confirms its effect, or that of a
//     later row of its key, unless the row becomes a dead letter or is purged. An open transaction does not delay the
//     rows of others.
//   - The rows of a key are applied in the order of their numbers, one request at a time. A row that cannot be applied
//     or loaded now delays its own key only; the relay retries it after one second, then two, up to five minutes.
//   - Delivery is at least once. A confirmed row that is not yet deleted may be sent again; its document is then older
//     until the next row of the key is sent.
//   - Each key has one relay at a time. When a relay dies, the others take its keys over after RelayOptions.Lease, by
//     default 12 s; after an orderly end, within seconds. A relay that settles nothing for three
//     RequestTimeouts gives its keys to the others, and tries some of them for ten seconds each minute.
//   - If the database goes back (a failover to a standby that is behind, a restore, a crash with synchronous_commit =
//     off), the relay reads from the beginning, and the Loader reads again the keys for which the index may be ahead.
//     If there is no Loader, or a relay was restarted meanwhile, compare with repair.Repairer when the log says
//     "server changed".
//   - A document that the service rejects becomes a dead letter ([Table.DeadLetters]), and later rows of its key
//     continue. [Table.Retry] turns it into a row again.
//   - A request that the network or the service delays beyond its time-out can be applied last; no client can exclude
//     that. If rows hold keys without documents, the next one corrects it.
//   - [Migrate] and EnsureTrigger can run in any number of processes while others write. They change everything or
//     nothing.
//
// # Operating it
//
// [Table.Lag] reports how far behind the relays are, [Relay.Stats] what one relay has done, [Relay.Ready] what fails
// or is waited for, and the sender's Health whether the service accepts requests. TELEMETRY.md lists the metrics.
// [Table.Pause], [Table.Resume] and [Table.Purge] affect all relays. [Table.Backfill] enqueues the existing entities,
// behind all live rows.
//
// # Databases
//
// PostgreSQL 12 or newer; the tests pass on 12, 14, 15, 16 and 18. Behind PgBouncer in transaction mode everything
// works except LISTEN. A relay uses one connection of its pool permanently and up to three more briefly. It polls
// every quarter of a second with one cheap statement; with a Wake channel (outboxpgx.Listen) every fifteen seconds.
// SchemaOptions.Rotate keeps a busy queue small while a long transaction blocks vacuum. MySQL and MariaDB are not
// supported: under their default isolation, deletes wait for inserts.
//
// SQLite needs WAL, a busy_timeout, and BEGIN IMMEDIATE for transactions that write (_txlock=immediate): one that
// begins with a read fails at its first write.
//
// # Privileges on PostgreSQL
//
// The role that calls Migrate owns the tables. A role that writes rows, directly or by a trigger, needs
//
//	GRANT INSERT ON azsearch_outbox TO writer; -- with Table.Notify also SELECT (queue)
//	GRANT USAGE ON SEQUENCE azsearch_outbox_seq TO writer;
//
// A role that runs a relay needs
//
//	GRANT SELECT, UPDATE, DELETE ON azsearch_outbox TO relay;
//	GRANT SELECT, INSERT, UPDATE, DELETE ON azsearch_outbox_lease, azsearch_outbox_dead, azsearch_outbox_tombstone TO relay;
//	GRANT SELECT, INSERT ON azsearch_outbox_nonce TO relay;
//	GRANT SELECT ON azsearch_outbox_queue, azsearch_outbox_version TO relay;
//	GRANT SELECT ON SEQUENCE azsearch_outbox_seq TO relay;
//
// After the server has gone back, a relay with a Loader enqueues keys again; for that its role also needs the rights of
// a writer.
package outbox
