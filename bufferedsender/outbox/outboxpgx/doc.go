// Package outboxpgx lets programs write to an outbox with pgx instead of database/sql, and wakes relays when rows are
// committed. It needs PostgreSQL 12 or later. The package is experimental: its API may change in any release.
//
// # Writing
//
// Queue adds the rows to a batch, behind the statements about the entity, so that they need no round trip:
//
//	batch := &pgx.Batch{}
//	batch.Queue(`UPDATE hotel SET name = $2 WHERE id = $1`, h.ID, h.Name)
//	if err := outboxpgx.Queue(batch, hotels, models.UploadAction(h)); err != nil {
//		return err
//	}
//	return tx.SendBatch(ctx, batch).Close()
//
// Write does the same immediately, in a pgx.Tx. QueueKeys and WriteKeys write keys only, whose documents the relay's
// Loader reads. The rows are the same as those of outbox.Write and outbox.WriteKeys, so all of them may be used with
// one table.
//
// # Waking relays
//
// A relay polls, by default 250 ms after the last read. With a Listener it reads when a transaction commits, and polls
// every 15 s only. For this, every program that writes must set Table.Notify. A relay uses database/sql; make its
// *sql.DB with stdlib.OpenDBFromPool of pgx:
//
//	listener, err := outboxpgx.Listen(pool, nil, hotels)
//	…
//	relay, err := outbox.NewRelay(stdlib.OpenDBFromPool(pool), hotels, sender.Raw(),
//		&outbox.RelayOptions{Wake: listener.Wake(hotels)})
//	…
//	go func() { errs <- listener.Run(ctx) }()
//	go func() { errs <- relay.Run(ctx) }()
//
// Notifications only reduce the delay. If one is missing, because the listener has no connection or the notifying
// transaction was rolled back, the relay reads the row at the next poll.
//
// # Behind PgBouncer
//
// In transaction mode everything except the Listener works, if pgx prepares no statements that outlive a transaction:
// set default_query_exec_mode=exec or simple_protocol in the connection string, also for the pool of the relay. With
// the default mode, statements of the relay fail ("prepared statement … does not exist"), unless PgBouncer tracks them
// (max_prepared_statements, since 1.21). LISTEN is lost with the transaction, without an error, and rows wait for
// 15 s: use ListenOptions.Connect to connect without the pooler.
package outboxpgx
