// Package bufferedsender sends documents to an Azure AI Search index for programs that must know the outcome of every
// document. The package is stable.
//
// A [BufferedSender] accepts actions from any number of goroutines, packs them into batches, sends them, retries
// transient failures, and reports the outcome of every action.
//
//	client, err := search.NewClientWithKey(endpoint, "hotels", azcore.NewKeyCredential(key), nil)
//	if err != nil { … }
//	sender, err := bufferedsender.New[Hotel](client, nil) // logs what fails; see Options.Handlers
//	if err != nil { … }
//	for hotel := range hotels {
//		if err := sender.UploadDocuments(ctx, hotel); err != nil { … } // blocks while the buffer is full
//	}
//	if err := sender.Close(ctx); err != nil { … } // nil: everything is in the index
//
// # What is guaranteed
//
// Every accepted action settles once: completed, failed or, only by Close, unsent. An adding call that returns nil has
// accepted all its documents. The actions of a key are applied in the order of acceptance. Requests and memory stay
// within [Limits]. Delivery is at least once: a request whose reply was lost is sent again. GUARANTEES.md lists the
// limits, the defaults and the reaction to each status; DESIGN.md follows an action through the code.
//
// # When the service throttles or is unavailable
//
// A throttling reply makes the sender wait at least as long as its Retry-After. The circuit breaker ([Options.Outage])
// opens after ten seconds in which everything was throttled, after three other failures in a row, or after three within
// five seconds that are half of the results. While it is open, only single actions are sent as probes and no attempt is
// used up. The buffer fills, and adding calls wait or follow [Hold].WhenFull. Flush and Close wait until their contexts
// end: give Close a deadline.
//
// # By need
//
//   - A service with readiness, metrics and a drain on SIGTERM: the example Service, on one page.
//   - Request handlers that report results: [BufferedSender.IndexDocumentsAndWait].
//   - Stop reading from upstream during an outage: State.WantsWork() of [Health]. Do not wait for healthy: a breaker
//     closes only after a request succeeded.
//   - Merge waiting actions of one key, so that a backlog needs fewer requests: [Folding].
//   - Adapt to the capacity of a shared service: package tuning. Keep failed actions and send them again: package
//     deadletter. Commit stream positions: events.LowWatermark. Slow handlers: events.Async.
//   - Survive a restart: Options.Queue. Empty the queue and exit: FlushOptions.WholeQueue. Queue keys, and load their
//     documents when they are sent: [BufferedSender.IndexKeys].
//   - Hand a partition over to another process: [BufferedSender.Withdraw].
//   - Documents that are JSON already: [BufferedSender.Raw]. Read a key's truth and write it while no other action of
//     the key is sent: [RawSender.HoldKeys].
package bufferedsender
