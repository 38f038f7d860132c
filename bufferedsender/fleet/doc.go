// Package fleet sends to many indexes of one service, with one sender for each and one budget for all.
// The package is experimental: its API may change in any release.
//
//	names := func(ctx context.Context) iter.Seq2[string, error] { return client.ListIndexNames(ctx, nil) } // client is a *search.IndexClient
//	f, err := fleet.New(fleet.From(client.Client, names), nil)
//	hotels, err := fleet.Sender[Hotel](f, "hotels", nil)
//	err = hotels.UploadDocuments(ctx, docs...)
//	…
//	err = f.Close(ctx)
//
// Made one by one, forty senders know nothing of each other: they buffer forty times as much, throttle the service
// that they share, and a backfill delays the live updates of the same index. The senders of a fleet share
//
//   - request slots, by class of service: what is Expedited never waits for a backfill in BestEffort, not even of its
//     own index (models.WithClass), and inside a class the indexes take turns by bytes. When a request is made is
//     another matter: a single document waits for a full batch or Options.AutoFlushInterval, 5 s, also if it is
//     Expedited. An index that does not answer gives its slots to the others after about a second, and is tried with
//     one document at a time until it answers;
//   - room: Options.Pool bounds what all of them keep. Each index that has something has a floor that is never lent,
//     so a failing index stops itself only;
//   - a breaker of the service, next to the one of each index: no sender tries while the service cannot be
//     reached, and one request at a time finds out when it can.
//
// Senders are made on first use and are ordinary ones: Flush, Stats, handlers, queues and dead letters are as
// everywhere. They are never closed under their user: [Fleet.Drop] does that for one, [Fleet.Close] for all.
//
// A Fleet is safe for concurrent use.
package fleet
