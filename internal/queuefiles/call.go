package queuefiles

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/filequeue"
	"github.com/go-azsearch/azsearch/internal/queuelab"
)

// Queue is a queue with the optional interfaces that programs use.
type Queue interface {
	queue.Queue
	queue.Admin
	queue.Membership
}

// what is the name of a method.
type what string

const (
	opening   what = "open"
	closing   what = "close"
	appending what = "append"
	reserving what = "reserve"
	settling  what = "settle"
	parking   what = "park"
	unparking what = "unpark"
	dropping  what = "drop"
	pausing   what = "pause"
	resuming  what = "resume"
	settled   what = "settled"
	looking   what = "look" // Stats, Contains and Inspect
)

// call is one call of a program, in a form that can be sent to another process and made on a model.
type call struct {
	What    what
	Dir     string
	Segment int
	Append  queue.Call
	Again   bool // Append repeats an earlier call
	Want    queue.Want
	Ends    []queue.End
	Keys    []string // for Admin; looking: for Contains
	At      int      // index into round.positions
	Real    queue.Position
}

// answer is the answer to a call.
type answer struct {
	Receipt       queue.Receipt
	Leases, Stale []queue.Lease
	N             int
	Settled       bool
	Stats         queue.Stats
	Found         []bool
	Entries       []queue.Entry
	Err           string
	Full          bool // Err has queue.ErrFull in its chain
}

// everything is an inspection of all entries.
var everything = queue.Inspection{Limit: 1 << 20, Bodies: true}

// subject is the tested queue, in the process that has it open.
type subject struct {
	queue Queue
	wrap  func(Queue) Queue
}

// do makes a call on the queue.
func (s *subject) do(c *call) (a answer) {
	ctx := context.Background()
	var err error
	var failed []queue.Lease
	q := s.queue
	switch c.What {
	case opening:
		if s.queue, err = filequeue.Open(c.Dir, &filequeue.Options{SegmentBytes: c.Segment}); err == nil && s.wrap != nil {
			s.queue = s.wrap(s.queue)
		}
	case closing:
		err = q.Close()
	case appending:
		a.Receipt, err = q.Append(ctx, c.Append)
	case reserving:
		a.Leases, err = q.Reserve(ctx, c.Want)
	case settling:
		a.Stale, failed, err = q.Settle(ctx, c.Ends...)
	case parking:
		a.N, err = q.Park(ctx, "by hand", c.Keys...)
	case unparking:
		a.N, err = q.Unpark(ctx, c.Keys...)
	case dropping:
		a.N, err = q.Drop(ctx, c.Keys...)
	case pausing:
		err = q.Pause(ctx, "maintenance")
	case resuming:
		err = q.Resume(ctx)
	case settled:
		a.Settled, err = q.Settled(ctx, c.Real)
	case looking:
		var errs [3]error
		a.Stats, errs[0] = q.Stats(ctx)
		a.Found, errs[1] = q.Contains(ctx, c.Keys...)
		a.Entries, errs[2] = q.Inspect(ctx, everything)
		err = errors.Join(errs[:]...)
	}
	if err == nil && len(failed) > 0 {
		err = fmt.Errorf("%d ends failed without an error", len(failed))
	}
	if err != nil {
		a.Err, a.Full = err.Error(), errors.Is(err, queue.ErrFull)
	}
	return a
}

// world is a possible state of the queue. After a kill there are several, until the answers leave only one.
type world struct {
	*queuelab.Model
	positions []queue.Position
	cut       string // outcome of the Append that a kill interrupted, for Holds
}

// clone returns a world in the same state.
func (w *world) clone() *world {
	return &world{w.Clone(), slices.Clone(w.positions), w.cut}
}

// do makes a call on the model.
func (w *world) do(now time.Time, c *call) (a answer) {
	var err error
	switch c.What {
	case opening:
		w.Restart(now)
	case appending:
		a.Receipt, err = w.Append(now, w.translated(now, c.Append))
		if !c.Again {
			w.positions = append(w.positions, a.Receipt.Position)
		}
	case reserving:
		a.Leases, err = w.Reserve(now, c.Want)
	case settling:
		a.Stale, err = w.Settle(now, c.Ends...)
	case parking:
		a.N = w.Park(now, "by hand", c.Keys...)
	case unparking:
		a.N = w.Unpark(now, c.Keys...)
	case dropping:
		a.N = w.Drop(now, c.Keys...)
	case pausing:
		w.Pause("maintenance")
	case resuming:
		w.Resume()
	case settled:
		a.Settled, err = w.Settled(w.positions[c.At])
	case looking:
		a.Stats, a.Found, a.Entries = w.Stats(now), w.Contains(c.Keys...), w.Inspect(now, everything)
		for i := range a.Entries { // the model does not count these bytes
			if r := a.Entries[i].Replaced; r != nil {
				a.Stats.Bytes += int64(len(r.Key) + len(r.Body))
			}
		}
	}
	if err != nil {
		a.Err = err.Error()
	}
	return a
}

// translated returns the call with the record numbers of the model in its folds.
func (w *world) translated(now time.Time, c queue.Call) queue.Call {
	c.Folds = slices.Clone(c.Folds)
	for i := range c.Folds {
		f := &c.Folds[i]
		if f.Last == 0 {
			continue // a comparison that fails
		}
		f.Last = 0
		if its := w.Inspect(now, queue.Inspection{Keys: []string{f.Key}}); len(its) > 0 && len(its[0].Waiting) >= f.Count {
			f.Last = its[0].Waiting[f.Count-1].Seq
		}
	}
	return c
}

// show returns the part of an answer that must be the same for queue and model. Times are rounded to hours since the
// start of the round: all durations of a program are hours, and a round takes seconds.
func (a *answer) show(c *call, began time.Time) string {
	hours := func(at time.Time) time.Duration {
		if at.IsZero() {
			return -1
		}
		return at.Sub(began).Round(time.Hour)
	}
	var b strings.Builder
	switch c.What {
	case appending:
		fmt.Fprintf(&b, "%d replaced, %d folded", a.Receipt.Replaced, a.Receipt.Folded)
		for _, p := range a.Receipt.Piles {
			if !c.Again && slices.ContainsFunc(c.Append.Records, func(r queue.Record) bool { return r.Key == p.Key }) {
				fmt.Fprintf(&b, "\n\t\tpile %s:%s", p.Key, showRecords(p.Records))
			}
		}
	case reserving, settling:
		for i := range a.Leases {
			l := &a.Leases[i]
			fmt.Fprintf(&b, "\n\t\t%s expired %d, tries %d:%s", l.Key, l.Expired, l.Tries, showRecords(l.Records))
		}
		for i := range a.Stale {
			fmt.Fprintf(&b, "\n\t\t%s stale", a.Stale[i].Key)
		}
	case looking:
		s := &a.Stats
		fmt.Fprintf(&b, "waiting %d, leased %d, parked %d, bytes %d, oldest %d, appended %d, replaced %d, folded %d, stale %d, expired %d, paused %v %q\n\t\tcontains",
			s.Waiting, s.Leased, s.Parked, s.Bytes, s.Oldest.UnixMilli(), s.Appended, s.Replaced, s.Folded, s.Stale, s.Expired, s.Paused, s.PauseReason)
		for i, key := range c.Keys {
			if i < len(a.Found) && a.Found[i] {
				fmt.Fprintf(&b, " %s", key)
			}
		}
		for i := range a.sorted() {
			e := &a.Entries[i]
			if e.Deaths >= queue.MaxDeaths && e.Reason != "" {
				e.Reason = "deaths"
			}
			replaced := ""
			if e.Replaced != nil {
				replaced = showRecords([]queue.Record{*e.Replaced})
			}
			fmt.Fprintf(&b, "\n\t\t%s state %d since %d class %d; leased%s by %q until %v; parked%s for %q since %v; waiting%s due %v; replaced%s for %q; expired %d, deaths %d, tries %d",
				e.Key, e.State, e.Since.UnixMilli(), e.Class, showRecords(e.Leased), e.Holder, hours(e.Until), showRecords(e.Parked), e.Reason, hours(e.ParkedAt),
				showRecords(e.Waiting), hours(e.Due), replaced, e.ReplacedReason, e.Expired, e.Deaths, e.Tries)
		}
	default:
		fmt.Fprintf(&b, "%d, %v", a.N, a.Settled)
	}
	return b.String()
}

// sorted sorts the parked entries by key, because queue and model park them some milliseconds apart.
func (a *answer) sorted() []queue.Entry {
	slices.SortStableFunc(a.Entries, func(x, y queue.Entry) int {
		if x.State&y.State&queue.Parked == 0 {
			return 0
		}
		return cmp.Compare(x.Key, y.Key)
	})
	return a.Entries
}

// difference returns the first lines in which two texts differ.
func difference(got, want string) string {
	all, others := strings.Split(got, "\n"), strings.Split(want, "\n")
	var lines []string
	for i, line := range all {
		if i >= len(others) || line != others[i] && !slices.Contains(others, line) {
			lines = append(lines, "\n\tgot  "+strings.TrimSpace(line))
		}
	}
	for i, line := range others {
		if i >= len(all) || line != all[i] && !slices.Contains(all, line) {
			lines = append(lines, "\n\twant "+strings.TrimSpace(line))
		}
	}
	if len(lines) == 0 {
		lines = []string{"\n\tthe same in another order:\n", got, "\n\twant:\n", want}
	}
	if n := len(lines); n > 12 {
		lines = append(lines[:12], fmt.Sprintf("\n\tand %d more lines", n-12))
	}
	return strings.Join(lines, "")
}

// showRecords describes records, with a checksum for each body.
func showRecords(records []queue.Record) string {
	var b strings.Builder
	for i := range records {
		r := &records[i]
		fmt.Fprintf(&b, " %s", cmp.Or(string(r.Op), "changed"))
		if len(r.Body) > 0 {
			name, _, _ := strings.Cut(string(r.Body), " ")
			fmt.Fprintf(&b, " %s %d %08x", name, len(r.Body), crc32.ChecksumIEEE(r.Body))
		}
		fmt.Fprintf(&b, " of class %d (%x %d.%d)", r.Class, r.From.Adder[:2], r.From.Number, r.From.Index)
	}
	return b.String()
}

// keys returns the keys named in the call.
func (c *call) keys() (keys []string) {
	if c.What != looking {
		keys = append(keys, c.Keys...)
	}
	for i := range c.Append.Records {
		keys = append(keys, c.Append.Records[i].Key)
	}
	for i := range c.Append.Folds {
		keys = append(keys, c.Append.Folds[i].Key)
	}
	for i := range c.Ends {
		keys = append(keys, c.Ends[i].Lease.Key)
	}
	return keys
}

// String returns the line of the call in a trace.
func (c *call) String() string {
	var b strings.Builder
	fmt.Fprint(&b, c.What)
	if c.What == appending {
		fmt.Fprintf(&b, " %x %d again %v", c.Append.Adder[:2], c.Append.Number, c.Again)
	}
	for _, f := range c.Append.Folds {
		fmt.Fprintf(&b, ", fold %d of %s by%s", f.Count, f.Key, showRecords(f.Records))
	}
	for i := range c.Append.Records {
		fmt.Fprintf(&b, ", %s%s", c.Append.Records[i].Key, showRecords(c.Append.Records[i:i+1]))
	}
	for _, e := range c.Ends {
		fmt.Fprintf(&b, ", %s %s done %d after %v again %v uncertain %v", []string{"", "commit", "release", "park"}[e.Fate], e.Lease.Key, e.Done, e.After, e.Again, e.Uncertain)
	}
	if c.What == reserving {
		fmt.Fprintf(&b, " %d keys %q, %d bytes, for %v, uncertain %v", c.Want.Keys, c.Want.Only, c.Want.Bytes, c.Want.For, c.Want.Uncertain)
	} else if c.What != looking {
		fmt.Fprintf(&b, " %q", c.Keys)
	}
	return b.String()
}
