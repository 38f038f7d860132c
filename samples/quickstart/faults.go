package main

import (
	"time"

	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// slowReply is how long a slow reply of the script takes.
const slowReply = 400 * time.Millisecond

// faultScript is everything that -faults does to a run. The rules are tried in
// order and the first that fits is carried out.
func faultScript() *searchtest.Faults {
	batches := func(f searchtest.Fault) searchtest.Fault {
		f.Operation = searchtest.OpIndexDocuments
		return f
	}
	return &searchtest.Faults{
		Seed: 1,
		Rules: []searchtest.Fault{
			// A limit on the size of a request that is not documented: 413.
			batches(searchtest.Fault{OverBytes: 250_000}),
			// Out of order for a moment, and throttled with a header to obey.
			batches(searchtest.Fault{After: 3, Every: 23, Status: 503}),
			batches(searchtest.Fault{After: 5, Every: 61, Status: 429, RetryAfter: searchtest.Duration(time.Second)}),
			// Connections that break. After the second kind the documents are in
			// the index, and only the answer that says so is lost.
			batches(searchtest.Fault{After: 7, Every: 29, Cut: searchtest.CutBeforeCommit}),
			batches(searchtest.Fault{After: 11, Every: 31, Cut: searchtest.CutAfterCommit}),
			batches(searchtest.Fault{After: 13, Every: 37, ReplyDelay: searchtest.Duration(slowReply)}),
			// Answers with status 207 in which single documents were refused.
			batches(searchtest.Fault{After: 1, Every: 5, Documents: []searchtest.DocumentFault{
				{Ratio: 0.01, Status: 503},
				{Ratio: 0.01, Status: 409},
				{Ratio: 0.01, Status: 422},
			}}),
		},
	}
}

// faultRetries is patience for a service that is never well for long. The delays
// are short because the emulator, unlike a service under load, does not recover
// any sooner for being left alone.
func faultRetries() retry.Options {
	return retry.Options{MaxRetries: 10, Delay: 40 * time.Millisecond, MaxDelay: time.Second}
}
