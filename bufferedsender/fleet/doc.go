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
// Forty separate senders would buffer forty times as much and overload the service that they share, and a backfill
// would delay the live updates of its index. The senders of a fleet share
//
//   - request slots, by class: Expedited never waits for a backfill in BestEffort (models.WithClass), and inside a
//     class the indexes take turns by bytes. A single document still waits for Options.AutoFlushInterval. An index
//     that does not answer gives its slots to the others after about a second;
//   - room: Options.Pool bounds what all of them keep. Each index that has something has a floor that is never lent,
//     so a failing index stops itself only;
//   - a breaker of the service, next to the one of each index.
//
// Senders are made on first use and are ordinary ones. Only [Fleet.Drop] and [Fleet.Close] close them. A Fleet is
// safe for concurrent use.
package fleet
