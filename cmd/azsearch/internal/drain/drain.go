// Package drain is for the command azsearch queue drain: it moves what waits in one queue into
// another.
package drain

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/sleep"
)

// Queue is what is needed of both queues.
type Queue interface {
	queue.Queue
	queue.Admin
}

// Options are the options of Run. The zero value has the defaults.
type Options struct {
	// Lease is how long keys are reserved; it is extended when it has to be. Defaults to a minute.
	Lease time.Duration
	// Keys and Bytes are how much is moved at once. Default to 1000 and 4 MB.
	Keys, Bytes int
	// Poll is how often it is asked whether others have given back what they hold. Defaults to 200 ms.
	Poll time.Duration
	// Progress is called after each move. Defaults to nothing.
	Progress func(Result)
	// Name is that of the holder, as others see it in the first queue.
	Name string
}

// Result is what a Run has done.
type Result struct {
	// Records is how many records were moved.
	Records int64 `json:"records"`
	// Left is how many keys stay because they are parked, or wait behind a parked record.
	Left int64 `json:"parked"`
}

// ErrSame says that both are one queue.
var ErrSame = errors.New("both are the same queue")

// ErrPaused says that nothing can be reserved from the first queue.
var ErrPaused = errors.New("the queue is paused")

// Run moves records until nothing is left but what is parked: it reserves keys from one queue,
// appends their records to the other, and commits them when that has returned. The order of each
// key is kept, and so is the age of its place. It waits for keys that others hold.
//
// A crash, or an error, leaves every record in at least one of the two queues: what was appended and not
// committed is moved once more by the next Run. So nobody may append to the second queue directly until the first
// one is empty, or an old record may come after a newer one.
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
	compared      bool // the queues are two
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

// rest reserves what is left when nothing is due. over: there is nothing but what is parked.
func (m *mover) rest(ctx context.Context) (b *batch, over bool, err error) {
	s, err := m.from.Stats(ctx)
	switch {
	case err != nil:
		return nil, false, err
	case s.Paused:
		return nil, false, fmt.Errorf("%w: %q", ErrPaused, s.PauseReason)
	}
	m.done.Left = s.Parked
	// What waits behind parked records is among those that wait.
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
		return fmt.Errorf("%d keys had been given to others before they were committed: they are in both queues", len(stale))
	}
	return nil
}

// records returns what is to be appended, with the age that the places of the keys have.
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

// append repeats a call until it is known whether it was applied. Each time the leases must last
// longer than it may take: whoever has lost them appends nothing any more, or what it appends could come after
// what the next holder has.
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

// compare finds out whether both are one queue: then what was appended to the second waits in the first.
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
