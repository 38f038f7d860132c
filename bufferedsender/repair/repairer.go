package repair

// Repairer compares an index with its source, and has a sender repair the differences. One value can be used for any
// number of passes: [Repairer.Run] makes one, [Repairer.Watch] one per interval, [Repairer.RunKeys] checks given keys
// only, and [Repairer.RunTree] the keys that a digest tree finds. Each of them first checks the fields and reports
// every problem. Do not change fields while one of them runs.
type Repairer struct {
	// Source provides the truth: a *SQLSource, a *JSONL, a Functions. Required.
	Source Source
	// Index reads the index: a *search.Rows. If permissions hide documents from it, a pass returns search.ErrPartialView
	// before it writes; see search.ClientOptions.AssumeWholeView. Required.
	Index Index
	// Sender writes to that index: the Raw of a BufferedSender. A sender of another index or service is refused, because it
	// would write and delete there; see Options.SameIndex. Required, unless Options has DryRun or Mark.
	Sender Sender
	// Options are optional; the zero value has all defaults.
	Options Options
}
