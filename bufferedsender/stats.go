package bufferedsender

import (
	"sync"
	"time"
)

// Stats is a snapshot: Accepted = Completed+Failed+Unsent+PendingActions.
//
//archtest:long figures for users, each on its own
type Stats struct {
	// Accepted counts the actions that adding calls have accepted; with a queue, those reserved from it. Completed counts
	// the actions that the service has applied.
	Accepted, Completed int64
	// Failed counts the actions that failed for good. Purged and Withdrawn are parts of Failed: actions given up to make
	// room, and actions taken back. Unsent counts the actions that Close gave up, not applied or of unknown outcome.
	Failed, Purged, Withdrawn, Unsent int64
	// PendingActions counts accepted actions that are not settled; PendingBytes is their encoded size.
	PendingActions int
	PendingBytes   int64
	// OldestAge is the age of the oldest action that could be sent but never was, 0 if there is none.
	OldestAge time.Duration
	// BlockedProducers counts adding calls that wait for room; BlockedBytes is the size of what they have encoded.
	BlockedProducers int
	BlockedBytes     int64
	// HeldApart counts pending actions that are set apart because the index refuses a property they have in common.
	HeldApart int
	// Requests counts started requests, InFlight those that are running. BytesSent is the total size of all bodies.
	Requests  int64
	InFlight  int
	BytesSent int64
	// Retries counts repeated sends of actions after a failed attempt, Folded actions sent as part of another of their key,
	// Superseded those that a newer version replaced, and Throttled results with status 503 for single documents.
	Retries, Folded, Superseded, Throttled int64
	// Flushes counts calls of Flush and ends of AutoFlushInterval, Splits requests that were refused as a whole and sent
	// again in parts, and Pauses the times that throttling or a broken connection stopped all sending for a while.
	Flushes, Splits, Pauses int64
	// BatchBytesLimit is the current size limit of a request: MaxBatchBytes, or less after a 413. Options.Tuning chooses
	// BatchActionsLimit, InFlightLimit and RequestInterval (between starts).
	BatchBytesLimit, BatchActionsLimit, InFlightLimit int
	RequestInterval                                   time.Duration
	// DeadLetters counts the dead letters that Options.DeadLetters took, DeadLetterErrors those that it refused, and
	// CallbackPanics the panics recovered in handlers.
	DeadLetters, DeadLetterErrors, CallbackPanics int64
	// Appended counts actions put into Options.Queue. Kept is the number of keys in it at the last look (periodically,
	// Flush, Close, reading metrics). Stale counts leases that expired before settlement; their keys are sent again.
	Appended, Kept, Stale int64
}

// Observable is implemented by every BufferedSender, for pages and probes.
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

// underWay detects requests that hang: some are in flight, and none has ended for long. This process may have lost its
// network while other processes of the queue work. It also tracks calls of the queue and the Loader.
type underWay struct {
	mu    sync.Mutex
	n     int
	since time.Time // when the last one ended, or the first one began
}

// begin records the start of a request and returns the function that records its end.
func (u *underWay) begin() (end func()) {
	if u == nil {
		return func() {}
	}
	u.note(1)
	return func() { u.note(-1) }
}

func (u *underWay) note(n int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.n == 0 || n < 0 {
		u.since = time.Now()
	}
	u.n += n
}

// hang reports whether requests are in flight and none has ended for longer than long, and since when.
func (u *underWay) hang(long time.Duration) (since time.Time, hangs bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.since, u.n > 0 && time.Since(u.since) > long
}
