package repair

// Repairer compares an index with its source, and has a sender repair what differs. One value makes any number of
// passes: [Repairer.Run] makes one, [Repairer.Watch] one every so often, [Repairer.RunKeys] looks at some keys alone,
// and [Repairer.RunTree] at what a digest tree has found. They report every problem of the fields before they begin.
// Fields must not change while one of them runs.
type Repairer struct {
	// Source is what the index is made of: a *SQLSource, a *JSONL, a Functions. Must be given.
	Source Source
	// Index is the index as it is read: a *search.Rows. If permissions hide documents from it, a pass ends with
	// search.ErrPartialView before it writes; see search.ClientOptions.AssumeWholeView. Must be given.
	Index Index
	// Sender writes to that index: the Raw of a BufferedSender. A sender of another index would write and delete
	// there, so one whose client names another index or service is refused, see Options.SameIndex. Must be given,
	// unless Options has DryRun or Mark.
	Sender Sender
	// Options are ready to use as they are.
	Options Options
}
