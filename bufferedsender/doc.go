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
// A throttling reply makes the sender wait at least as long as its Retry-After. Throttling alone opens the circuit
// breaker ([Options.Outage]) only after ten seconds in which nothing passed. Other failures open it after three in a
// row, or after three within five seconds that are half of the results. While it is open, only single actions are sent
// as probes and no attempt is used up. The buffer fills, and adding calls wait or follow [Hold].WhenFull. Flush and
// Close wait until their contexts end: give Close a deadline.
//
// # By need
//
//   - To run as a service, with readiness, metrics and a drain on SIGTERM: the example Service, on one page.
//   - To answer requests: [BufferedSender.IndexDocumentsAndWait].
//   - To stop reading from upstream during an outage: State.WantsWork() of [Health]. Do not wait for healthy: a breaker
//     closes only after a request succeeded.
//   - To merge waiting actions of one key, so that a backlog needs fewer requests: [Folding].
//   - To adapt to the capacity of a shared service: package tuning.
//   - To keep failed actions and send them again: package deadletter.
//   - To survive a restart: Options.Queue. To empty it and exit: FlushOptions.WholeQueue.
//   - To commit stream positions: events.LowWatermark.
//   - To run slow handlers outside the sender's goroutine: events.Async.
//   - To hand a partition over to another process: [BufferedSender.Withdraw].
//   - To send documents that are JSON already: [BufferedSender.Raw]. To read a key's truth and write it while no other
//     action of the key is sent: [RawSender.HoldKeys].
package bufferedsender
