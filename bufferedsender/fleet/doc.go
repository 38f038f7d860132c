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
// Forty independent senders would buffer forty times as much and overload their common service, and a backfill would
// delay live updates. The senders of a fleet share:
//
//   - Request slots, by class. Expedited never waits for a backfill in BestEffort (models.WithClass), and within a
//     class the indexes take turns by bytes. A single document still waits for Options.AutoFlushInterval. An index that
//     does not answer loses its slots to the others after about a second.
//   - Room: Options.Pool bounds what all of them buffer. Each index with buffered actions has a floor that is never
//     lent, so a failing index stops only itself.
//   - A breaker of the service, in addition to the one of each index.
//
// Senders are created on first use and are ordinary ones. Only [Fleet.Drop] and [Fleet.Close] close them. A Fleet is
// safe for concurrent use.
package fleet
