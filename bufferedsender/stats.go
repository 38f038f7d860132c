package bufferedsender

import "time"

// Stats is a snapshot: Accepted = Completed+Failed+Unsent+PendingActions.
//
//archtest:long figures for users, each on its own
type Stats struct {
	// Accepted counts the actions that adding calls have accepted; with a queue, what was reserved from it.
	Accepted int64
	// Completed counts those that the service has applied.
	Completed int64
	// Failed counts those that failed for good; of them, Purged were given up to make room and Withdrawn taken back.
	Failed    int64
	Purged    int64
	Withdrawn int64
	// Unsent counts those that Close gave up, whether not applied or of unknown outcome.
	Unsent int64

	// PendingActions is how many are accepted and not settled, PendingBytes their encoded size.
	PendingActions int
	PendingBytes   int64
	// OldestAge is the age of the oldest action that could be sent and never was, 0 if there is none.
	OldestAge time.Duration
	// BlockedProducers is how many adding calls wait for room, BlockedBytes what they have encoded.
	BlockedProducers int
	BlockedBytes     int64
	// HeldApart is how many of the pending actions wait because the index refuses what they have in common.
	HeldApart int

	// Requests counts the requests started; InFlight of them are under way.
	Requests int64
	InFlight int
	// BytesSent is the size of all request bodies.
	BytesSent int64
	// Retries counts the actions that were sent again after a failed attempt, once each time.
	Retries int64
	// Folded counts the actions that travelled in another of their key, Superseded those that a newer version replaced.
	Folded     int64
	Superseded int64
	// Throttled counts the documents that were refused with status 503 inside a reply, once each time.
	Throttled int64
	// Flushes counts the calls of Flush and the ends of AutoFlushInterval.
	Flushes int64
	// Splits counts the requests that were refused as a whole and sent again in parts.
	Splits int64
	// Pauses counts how often throttling or a broken connection stopped all sending for a while.
	Pauses int64
	// BatchBytesLimit is how large a request may be now: MaxBatchBytes, or what a 413 has taught.
	BatchBytesLimit int
	// BatchActionsLimit, InFlightLimit and RequestInterval (between starts) are the choice of Options.Tuning.
	BatchActionsLimit int
	InFlightLimit     int
	RequestInterval   time.Duration
	// DeadLetters counts what Options.DeadLetters has taken, DeadLetterErrors what it has not.
	DeadLetters      int64
	DeadLetterErrors int64
	// CallbackPanics counts the panics recovered in handlers.
	CallbackPanics int64

	// Appended counts actions put into Options.Queue, Kept the keys in it at the last look (Flush, Close, reading
	// metrics), Stale leases that ended before they were settled: other processes send these keys again.
	Appended, Kept, Stale int64
}

// Observable is any BufferedSender, for a page or a probe.
type Observable interface {
	Stats() Stats
	Health() Health
	Control() Control
	Contains(keys ...string) []bool
}

// Stats returns a snapshot of the counters. It never waits for the service.
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
		DeadLetters:       s.observer.letters.taken.Load(),
		DeadLetterErrors:  s.observer.letters.refused.Load(),
		CallbackPanics:    s.observer.panics.Load(),
	}
}
