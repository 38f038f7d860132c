package doctor

import (
	"fmt"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/go-azsearch/azsearch/bufferedsender/outbox"
	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/amount"
)

// waitsLong is the waiting time above which a check warns.
const waitsLong = 10 * time.Minute

// Queue checks the statistics of a queue and its fault, nil for none. where is the URL without a password.
func Queue(f *Findings, where string, s *queue.Stats, fault error, now time.Time) {
	text := fmt.Sprintf("%s waiting, %s leased", humanize.Comma(s.Waiting), humanize.Comma(s.Leased))
	var age time.Duration
	if !s.Oldest.IsZero() {
		age = now.Sub(s.Oldest).Round(time.Second)
		text += fmt.Sprintf(", the oldest for %v", age)
	}
	switch {
	case fault != nil:
		f.Fail("queue", "see azsearch queue stats "+where, "%v", fault)
	case s.Paused:
		f.Warn("queue", "azsearch queue resume "+where, "paused (%s), %s", s.PauseReason, text)
	case age > waitsLong:
		f.Warn("queue", "check that a sender with this queue is running, and its log", "%s", text)
	default:
		f.Ok("queue", "%s", text)
	}
	if s.Parked > 0 {
		f.Warn("queue", "azsearch queue parked "+where+" lists the reasons", "parked, not sent: %s", amount.Of(s.Parked, "key"))
	}
}

// Outbox checks the lag of an outbox. where is the URL without a password.
func Outbox(f *Findings, where string, lag *outbox.Lag) {
	text := "waiting: " + map[bool]string{true: "about "}[lag.Estimated] + amount.Of(lag.Rows, "row")
	if lag.Oldest > 0 {
		text += fmt.Sprintf(", the oldest for %v", lag.Oldest.Round(time.Second))
	}
	switch {
	case lag.Paused:
		f.Warn("outbox", "azsearch outbox resume "+where, "paused, %s", text)
	case lag.Oldest > waitsLong:
		f.Warn("outbox", "check that a relay of this queue is running, and its log", "%s", text)
	default:
		f.Ok("outbox", "%s", text)
	}
	if lag.Dead > 0 {
		f.Warn("outbox", "azsearch outbox letters "+where+" lists the reasons", "%s", amount.Of(lag.Dead, "dead letter")) //voice:ok a command
	}
	if lag.OldestTransaction > waitsLong {
		f.Warn("outbox", "end it: while it is open, the database cannot reclaim deleted rows", "a database transaction has been open for %v", lag.OldestTransaction.Round(time.Second))
	}
}
