// Package outboxpgx is for programs that write to an outbox with pgx itself instead of
// database/sql, or whose relays are to be woken when rows are committed. It needs PostgreSQL 12 or
// later.
// The package is experimental: its API may change in any release.
//
// # Writing
//
// Queue adds the rows to a batch, behind the statements about the entity, so that they cost no round trip:
//
//	batch := &pgx.Batch{}
//	batch.Queue(`UPDATE hotel SET name = $2 WHERE id = $1`, h.ID, h.Name)
//	if err := outboxpgx.Queue(batch, hotels, models.UploadAction(h)); err != nil {
//		return err
//	}
//	return tx.SendBatch(ctx, batch).Close()
//
// Write does the same at once, in a pgx.Tx. QueueKeys and WriteKeys write keys of which only it is known
// that they have changed. The rows are the same as those of outbox.Write and outbox.WriteKeys, so all
// of them may write to one table.
//
// # Waking relays
//
// A relay polls, 250 ms after the last read by default. A Listener has it read when somebody commits,
// and poll every 15 s only. Whoever writes sets Table.Notify for that. A
// relay, which uses database/sql, is made with stdlib.OpenDBFromPool of pgx:
//
//	listener, err := outboxpgx.Listen(pool, nil, hotels)
//	…
//	relay, err := outbox.NewRelay(stdlib.OpenDBFromPool(pool), hotels, sender.Raw(),
//		&outbox.RelayOptions{Wake: listener.Wake(hotels)})
//	…
//	go func() { errs <- listener.Run(ctx) }()
//	go func() { errs <- relay.Run(ctx) }()
//
// Notifications only make it faster. What they do not tell of, because the listener has no connection or the
// transaction that was to notify was rolled back, is read at the next poll.
//
// # Behind PgBouncer
//
// In transaction mode everything but the Listener works, if pgx prepares no statements that outlive a
// transaction: with default_query_exec_mode=exec or simple_protocol in the connection string, for the pool
// of the relay too. With the default mode, statements of the relay fail there ("prepared statement … does not exist"),
// unless PgBouncer keeps account of them (max_prepared_statements, from 1.21 on). LISTEN is lost with
// the transaction, without an error, and rows wait for these 15 s: give the Listener a way around the
// pooler, ListenOptions.Connect.
package outboxpgx
