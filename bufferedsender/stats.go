package bufferedsender

import "time"

// Stats is a snapshot of a sender. It is consistent: Accepted = Completed +
// Failed + Unsent + PendingActions in every one.
//
//archtest:long figures for users, each by itself
type Stats struct {
	// Accepted counts the actions that adding calls have accepted.
	Accepted int64
	// Completed counts those that the service has applied.
	Completed int64
	// Failed counts those that failed for good; of them, Purged those that were given
	// up to make room and Withdrawn those that were taken back, each action of a
	// folded one counted.
	Failed    int64
	Purged    int64
	Withdrawn int64
	// Unsent counts those that Close gave up, whether certainly not applied or
	// of unknown outcome.
	Unsent int64

	// PendingActions is how many are accepted and not settled, and PendingBytes
	// their encoded size.
	PendingActions int
	PendingBytes   int64
	// OldestAge is the age of the oldest action that could be sent and never was, 0 if there is none.
	OldestAge time.Duration
	// BlockedProducers is how many adding calls wait for room, and BlockedBytes the size
	// of what they have encoded: about a quarter of MaxBufferedBytes at the most, or as
	// much again when they come all at once.
	BlockedProducers int
	BlockedBytes     int64
	// HeldApart is how many of the pending actions wait because the index refuses
	// what they have in common, while others are sent.
	HeldApart int

	// Requests counts the requests started, and InFlight those under way.
	Requests int64
	InFlight int
	// BytesSent is the size of all request bodies.
	BytesSent int64
	// Retries counts the actions that were sent again after a failed attempt,
	// once each time.
	Retries int64
	// Folded counts the actions that travelled as part of another of their key, and
	// Superseded those that did not travel because a newer version did.
	Folded     int64
	Superseded int64
	// Throttled counts the documents that were refused with status 503 inside a
	// reply, once each time.
	Throttled int64
	// Flushes counts the calls of Flush, and how often AutoFlushInterval was up.
	Flushes int64
	// Splits counts the requests that were refused as a whole and sent again in
	// parts.
	Splits int64
	// Pauses counts how often all sending was held because of throttling or a
	// broken connection.
	Pauses int64
	// BatchBytesLimit is how large a request may be now: MaxBatchBytes, or less
	// after the service refused one as too large.
	BatchBytesLimit int
	// BatchActionsLimit and InFlightLimit are how many actions a request may have
	// now and how many requests may be under way, and RequestInterval is the
	// least time between the starts of two. Options.Tuning chooses them.
	BatchActionsLimit int
	InFlightLimit     int
	RequestInterval   time.Duration
	// DeadLetters counts the letters that Options.DeadLetters has taken, and
	// DeadLetterErrors those it could not take. Actions that were folded into one have one.
	DeadLetters      int64
	DeadLetterErrors int64
	// CallbackPanics counts the panics recovered in handlers.
	CallbackPanics int64

	// Appended counts the actions that adding calls have put into Options.Queue; what is
	// reserved from it is Accepted. Kept is how many keys were in the queue when it was
	// looked at last: after Flush, after Close, and when metrics are read. Stale counts
	// leases that had ended before they could be settled: others send these keys again.
	// All are 0 without a queue.
	Appended, Kept, Stale int64
}

// Observable is a sender as a page or a probe sees it, whatever its documents are: every BufferedSender is one.
type Observable interface {
	Stats() Stats
	Health() Health
	Control() Control
	Contains(keys ...string) []bool
}

// Stats returns a snapshot of the sender's counters. It is cheap and never
// waits for the service.
func (s *sender) Stats() Stats {
	p := s.publisher.Stats()
	var appended, kept, stale int64
	if s.feed != nil {
		appended = s.feed.appender.state().records
		stale = s.feed.tally.stale.Load()
		if last := s.feed.tally.queue.Load(); last != nil {
			kept = last.Waiting + last.Leased + last.Parked
		}
	}
	return Stats{
		Appended: appended, Kept: kept, Stale: stale,

		Accepted:         int64(p.Accepted - p.Returned),
		Completed:        int64(p.Completed),
		Failed:           int64(p.Failed),
		Purged:           int64(p.Purged),
		Withdrawn:        int64(p.Withdrawn),
		Unsent:           int64(p.Unsent),
		PendingActions:   p.Items,
		PendingBytes:     p.Bytes,
		OldestAge:        p.OldestAge,
		BlockedProducers: p.Waiting,
		BlockedBytes:     p.WaitingBytes,
		HeldApart:        p.Apart,
		Requests:         int64(p.Requests),
		InFlight:         p.InFlight,
		BytesSent:        int64(p.BytesSent),
		Retries:          int64(p.Retries),
		Splits:           int64(p.Splits),
		Pauses:           int64(p.Pauses),
		BatchBytesLimit:  p.BatchBytes,

		Folded:            int64(p.Folded),
		Superseded:        int64(p.Superseded),
		Throttled:         int64(p.Throttled),
		Flushes:           int64(p.Flushes),
		BatchActionsLimit: p.BatchItems,
		InFlightLimit:     p.Slots,
		RequestInterval:   p.Interval,
		DeadLetters:       s.observer.letters.Load(),
		DeadLetterErrors:  s.observer.letterErrors.Load(),
		CallbackPanics:    s.observer.panics.Load(),
	}
}
