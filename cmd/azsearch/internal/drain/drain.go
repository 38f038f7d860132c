// Package drain implements azsearch queue drain: it moves the records of one queue into another.
package drain

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/amount"
	"github.com/go-azsearch/azsearch/internal/sleep"
)

// Queue has the operations that Run needs of both queues.
type Queue interface {
	queue.Queue
	queue.Admin
}

// Options are the options of Run. The zero value means the defaults.
type Options struct {
	// Lease is the duration of leases, which Run extends as needed. Defaults to one minute.
	Lease time.Duration
	// Keys and Bytes limit what is moved at once. Default to 1000 and 4 MB.
	Keys, Bytes int
	// Poll is the interval between checks whether other holders have returned their keys. Defaults to 200 ms.
	Poll time.Duration
	// Progress is called after each move. nil means no calls.
	Progress func(Result)
	// Name is the name of the holder, visible in the first queue.
	Name string
}

// Result is the outcome of Run.
type Result struct {
	// Records is the number of moved records.
	Records int64 `json:"records"`
	// Left is the number of keys that stay because a record of them is parked.
	Left int64 `json:"parked"`
}

// ErrSame is returned if from and to are the same queue.
var ErrSame = errors.New("both are the same queue")

// ErrPaused is returned if the first queue is paused.
var ErrPaused = errors.New("queue is paused")

// Run moves all records that are not parked: it reserves keys from one queue, appends their records to the other,
// and commits them when the append has returned. It keeps the order of each key and the age of its place. It waits
// for keys leased by other holders.
//
// After a crash or an error each record is in at least one of the two queues: the next Run moves records again that
// were appended but not committed. Until from is empty, no other process may append to to, or an old record may
// follow a newer one.
func Run(ctx context.Context, from, to Queue, opts Options) (Result, error) {
	m := mover{from: from, to: to, o: opts, adder: queue.NewID(), holder: queue.NewID()}
	m.o.Lease = orDefault(m.o.Lease, time.Minute)
	m.o.Poll = orDefault(m.o.Poll, 200*time.Millisecond)
	m.o.Keys, m.o.Bytes = orDefault(m.o.Keys, 1000), orDefault(m.o.Bytes, 4<<20)
	err := m.run(ctx)
	return m.done, err
}

func orDefault[N int | time.Duration](n, def N) N {
	if n <= 0 {
		return def
	}
	return n
}

type mover struct {
	from, to      Queue
	o             Options
	adder, holder queue.ID
	number        uint64
	compared      bool // from and to are known to be different queues
	done          Result
}

func (m *mover) run(ctx context.Context) error {
	for {
		b, err := m.reserve(ctx, nil)
		if err == nil && len(b.leases) == 0 {
			var over bool
			if b, over, err = m.rest(ctx); over {
				return nil
			}
		}
		switch {
		case err != nil:
			return fmt.Errorf("reserving: %w", err)
		case len(b.leases) == 0:
			if err := sleep.For(ctx, m.o.Poll); err != nil {
				return err
			}
			continue
		}
		if err := m.move(ctx, b); err != nil {
			return errors.Join(err, m.release(b))
		}
		if m.o.Progress != nil {
			m.o.Progress(m.done)
		}
	}
}

// rest reserves the keys that are waiting but not due. over is true if only parked keys are left.
func (m *mover) rest(ctx context.Context) (b *batch, over bool, err error) {
	s, err := m.from.Stats(ctx)
	switch {
	case err != nil:
		return nil, false, err
	case s.Paused:
		return nil, false, fmt.Errorf("%w: %q", ErrPaused, s.PauseReason)
	}
	m.done.Left = s.Parked
	// Records behind a parked one are in state Waiting, too.
	entries, err := m.from.Inspect(ctx, queue.Inspection{States: queue.Waiting | queue.Leased, Limit: int(s.Parked) + queue.MaxCall})
	if err != nil {
		return nil, false, err
	}
	over = true
	var delayed []string
	for i := range entries {
		e := &entries[i]
		if e.State&queue.Parked != 0 {
			continue
		}
		over = false
		if e.State&queue.Leased == 0 && len(delayed) < queue.MaxCall {
			delayed = append(delayed, e.Key)
		}
	}
	if len(delayed) == 0 {
		return &batch{}, over, nil
	}
	b, err = m.reserve(ctx, delayed)
	return b, false, err
}

// move appends records to the second queue and commits them in the first one.
func (m *mover) move(ctx context.Context, b *batch) error {
	records, err := m.records(ctx, b)
	if err != nil {
		return err
	}
	for at := 0; at < len(records); at += queue.MaxCall {
		if err := m.append(ctx, b, records[at:min(at+queue.MaxCall, len(records))]); err != nil {
			return fmt.Errorf("appending: %w", err)
		}
		if err := m.compare(ctx, &records[at]); err != nil {
			return err
		}
	}
	ends := make([]queue.End, len(b.leases))
	for i := range b.leases {
		ends[i] = queue.End{Lease: b.leases[i], Fate: queue.Commit}
	}
	stale, _, err := m.from.Settle(ctx, ends...)
	if err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	m.done.Records += int64(len(records))
	if len(stale) > 0 {
		return fmt.Errorf("%s expired before the commit: the records are in both queues", amount.Of(len(stale), "lease"))
	}
	return nil
}

// records returns the records to append, with the age of the key's place.
func (m *mover) records(ctx context.Context, b *batch) ([]queue.Record, error) {
	keys := make([]string, len(b.leases))
	for i := range b.leases {
		keys[i] = b.leases[i].Key
	}
	entries, err := m.from.Inspect(ctx, queue.Inspection{Keys: keys, Limit: len(keys)})
	if err != nil {
		return nil, fmt.Errorf("inspecting: %w", err)
	}
	since := make(map[string]time.Time, len(entries))
	for i := range entries {
		since[entries[i].Key] = entries[i].Since
	}
	var records []queue.Record
	for i := range b.leases {
		for _, r := range b.leases[i].Records {
			r.From, r.Seq = queue.Origin{}, 0
			if r.Since.IsZero() {
				r.Since = since[r.Key]
			}
			records = append(records, r)
		}
	}
	return records, nil
}

// append repeats a call until its outcome is known. Before each attempt the leases must last longer than the
// attempt: after they end, another holder may append newer records, and this one would append older ones behind
// them.
func (m *mover) append(ctx context.Context, b *batch, records []queue.Record) error {
	m.number++
	call := queue.Call{Adder: m.adder, Number: m.number, Records: records}
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		if err := m.extend(ctx, b); err != nil {
			return err
		}
		attempt, cancel := context.WithTimeout(ctx, m.o.Lease/3)
		_, err := m.to.Append(attempt, call)
		cancel()
		if err == nil || !errors.Is(err, queue.ErrUnknown) || ctx.Err() != nil {
			return err
		}
		if err := sleep.For(ctx, pause); err != nil {
			return err
		}
	}
}

// compare returns ErrSame if both are the same queue: then the records appended to the second wait in the first.
func (m *mover) compare(ctx context.Context, r *queue.Record) error {
	if m.compared {
		return nil
	}
	entries, err := m.from.Inspect(ctx, queue.Inspection{Keys: []string{r.Key}, Limit: 1})
	if err != nil {
		return fmt.Errorf("inspecting: %w", err)
	}
	for i := range entries {
		for j := range entries[i].Waiting {
			if entries[i].Waiting[j].From.Adder == m.adder {
				return ErrSame
			}
		}
	}
	m.compared = true
	return nil
}
