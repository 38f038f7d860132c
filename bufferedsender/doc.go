// Package bufferedsender is for programs that push documents into an Azure AI
// Search index and must not lose one, or be misinformed about one.
// The package is stable.
//
// A [BufferedSender] takes actions from any number of goroutines, packs them
// into batches by count and by bytes, sends them, retries what may succeed
// later, and reports the outcome of every single action.
//
//	client, err := search.NewClientWithKey(endpoint, "hotels", azcore.NewKeyCredential(key), nil)
//	if err != nil { … }
//	sender, err := bufferedsender.New(client, &bufferedsender.Options[Hotel]{
//		Handlers: events.Handlers[Hotel]{
//			ActionFailed: func(_ context.Context, e *events.ActionFailed[Hotel]) { log.Print(e.Err) },
//		},
//	})
//	if err != nil { … }
//	for hotel := range hotels {
//		if err := sender.UploadDocuments(ctx, hotel); err != nil { … } // blocks while the buffer is full
//	}
//	if err := sender.Close(ctx); err != nil { … } // nil: everything is in the index
//
// # What is guaranteed
//
// GUARANTEES.md in this folder has each promise with its limits and the tests that
// prove it, what happens at each status, and the defaults. In short: every accepted
// action settles once, as completed, failed, or, only by Close, unsent. nil from an
// adding call means that all its documents are accepted. The actions of a key are
// applied in the order of acceptance. Requests and memory stay within their limits.
// Delivery is at least once: a request whose reply was lost is sent again.
//
// # When the service is slow, throttles, or is gone
//
// A reply that asks for less makes the sender wait, with jitter, or as long as
// Retry-After says; [Options.Tuning] can find the right pace instead. Failures
// in a row open the circuit breaker ([Options.Outage]): nothing is sent except
// probes of one action, no attempt is used up, and sending resumes when the service
// is back. Meanwhile the buffer fills and adding calls wait, or follow
// [Hold].WhenFull; Flush and Close wait until their contexts end, with
// [ErrCircuitOpen] in their error. So give Close a deadline.
//
// The breaker opens on three failures within five seconds that are at least half of
// the results, or three in a row. It stays open as long as the trouble has lasted, one
// second at least and 30 at most, less a random share, or as long as Retry-After says,
// up to ten minutes; then one action is the probe. [BufferedSender.Breaker] disables,
// enables or resets it. [FailSoon] fails everything soon instead of waiting, for
// programs with a user in front of them.
//
// # By need
//
//   - To stop reading from upstream while the sender is held: [BufferedSender.Health]
//     and the HealthChanged event, while State.WantsWork() is false. Not until it is
//     healthy: a breaker closes only when something was sent.
//   - To hold the sender by hand: Pause and Resume. To change batches,
//     buffer, timer and the policy of a full buffer while it runs: [BufferedSender.SetControl];
//     the options of its breaker: SetOptions of [BufferedSender.Breaker].
//   - To answer requests: [BufferedSender.IndexDocumentsAndWait]. Callers share
//     requests, and each waits for its own documents. When its context ends it withdraws
//     what was not sent and says of each document whether it may have been applied; with
//     Waiting.FailFast it does not wait for an outage to end.
//   - To send less the further behind the sender is: [Folding] merges the waiting changes of
//     a key, and its Version drops what is older than what waits.
//   - To change some fields: MergePatch, MergeOrUploadPatch. A merge of a struct sends all
//     of its fields, zero values included. OnMergeMissing is the policy for a merge of
//     a document that does not exist.
//   - To give a partition away: [BufferedSender.Withdraw] takes back what is not in a
//     request, [BufferedSender.Contains] says which keys wait or travel.
//   - To send what is JSON already, from a queue or a table: [BufferedSender.Raw]. To
//     read the truth of a key and write it, with nothing of the key in between:
//     [RawSender.HoldKeys].
//   - To keep what failed: DeadLetters, and Replay after the cause is repaired
//     (package deadletter).
//   - To checkpoint: the ActionAdded and ActionCompleted events, and events.LowWatermark,
//     which makes of outcomes in any order the position up to which all is settled.
//     events.Async moves slow handlers to goroutines of their own.
//   - To send what a queue has after a restart, and exit: sender.Flush with
//     FlushOptions{WholeQueue: true}, then Close. It waits for all that is in the queue,
//     also what other processes have leased, and says how many keys are parked.
//   - To find the pace of a service that is shared: [Options.Tuning] (package tuning).
//
// # Who waits for what
//
// [BufferedSender.UploadDocuments] and its like return when the documents are
// accepted, [BufferedSender.IndexDocumentsAndWait] when its own documents are
// settled, [BufferedSender.Flush] when everything accepted before it is.
//
// DESIGN.md in this folder follows an action through the code.
package bufferedsender
