// Package bufferedsender is for programs that push documents into an Azure AI Search index
// and must not lose one, or be misinformed about one. The package is stable.
//
// A [BufferedSender] takes actions from any number of goroutines, packs them into batches,
// sends them, retries what may succeed later, and reports the outcome of every action.
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
// Every accepted action settles once: completed, failed or, only by Close, unsent. nil from
// an adding call means that all its documents are accepted. The actions of a key are applied
// in the order of acceptance. Requests and memory stay within [Limits]. Delivery is at least
// once: a request whose reply was lost is sent again. GUARANTEES.md has the limits, what
// happens at each status, and the defaults; DESIGN.md follows an action through the code.
//
// # When the service throttles or is gone
//
// A reply that asks for less makes the sender wait, as long as Retry-After says. The circuit
// breaker ([Options.Outage]) opens on three failures in a row, or three within five seconds
// that are half of the results. Then nothing is sent except single actions as probes, no
// attempt is used up, the buffer fills, and adding calls wait, or follow [Hold].WhenFull. Flush
// and Close wait until their contexts end: give Close a deadline.
//
// # By need
//
//   - To run as a service, with readiness, metrics and a drain on SIGTERM: the example Service, on one page.
//   - To answer requests: [BufferedSender.IndexDocumentsAndWait].
//   - To stop reading from upstream meanwhile: State.WantsWork() of [Health]. Do not wait for
//     healthy: a breaker closes only when something was sent.
//   - To merge waiting actions of one key, so that a backlog costs fewer: [Folding].
//   - To find the pace of a shared service: package tuning.
//   - To keep what failed and send it again: package deadletter.
//   - To survive a restart: Options.Queue. To empty it and exit: FlushOptions.WholeQueue.
//   - To commit positions of a stream: events.LowWatermark.
//   - To take slow handlers off the sender's goroutine: events.Async.
//   - To give a partition away: [BufferedSender.Withdraw].
//   - To send what is JSON already: [BufferedSender.Raw]. To read the truth of a key and
//     write it, with nothing of the key in between: [RawSender.HoldKeys].
package bufferedsender
