package bufferedsender

// FlushOptions configures Flush.
type FlushOptions struct {
	// Keys are the only ones to flush; what is accepted of them meanwhile waits. Failures are also in the next error of
	// a Flush of everything, or of Close. A sender with a Queue refuses it. Defaults to nil: everything.
	Keys []string
	// WholeQueue makes Flush wait until no key in Options.Queue waits, is delayed or is leased, whichever process added
	// it; if keys are parked it returns a *FlushError. While sender or queue are paused it returns ErrPaused at once.
	WholeQueue bool
}

// IndexDocumentsAndWaitOptions is for future expansion. See Options.Waiting.
type IndexDocumentsAndWaitOptions struct{}

// IndexSeqOptions configures IndexSeq.
type IndexSeqOptions struct {
	// OnRejected decides, on the caller's goroutine, about a rejected document: nil leaves it out, an error ends
	// IndexSeq with it. err.Tag is the tag of its action. Defaults to ending at the first one.
	OnRejected func(err *AddError) error
}
