package dashboard

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/fleet"
	"github.com/go-azsearch/azsearch/bufferedsender/internal/harmless"
	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/retry/breaker"
)

// The shortest interval at which queues and databases are asked, however many pages are open.
const (
	queueEvery  = 2 * time.Second
	outboxEvery = 10 * time.Second
)

// state is everything that the page shows once a second.
type state struct {
	At       time.Time     `json:"at"`
	Began    time.Time     `json:"began"`
	HideKeys bool          `json:"hideKeys"`
	Senders  []senderState `json:"senders"`
	Fleets   []fleetState  `json:"fleets"`
	Queues   []queueState  `json:"queues"`
	Outboxes []outboxState `json:"outboxes"`
}

type senderState struct {
	Name   string    `json:"name"`
	Fleet  string    `json:"fleet,omitempty"`
	State  string    `json:"state"`
	Since  time.Time `json:"since"`
	Until  time.Time `json:"until,omitzero"` // of an open breaker
	Reason string    `json:"reason,omitempty"`

	PerSecond      float64  `json:"completedPerSecond"`
	BytesPerSecond float64  `json:"bytesPerSecond"`
	Latency        *latency `json:"latency,omitempty"`

	Counts   counts     `json:"counts"`
	Buffer   buffer     `json:"buffer"`
	Requests requests   `json:"requests"`
	Failures []failures `json:"failures"`
}

type counts struct {
	Accepted         int64 `json:"accepted"`
	Completed        int64 `json:"completed"`
	Failed           int64 `json:"failed"`
	Unsent           int64 `json:"unsent"`
	Purged           int64 `json:"purged"`
	Withdrawn        int64 `json:"withdrawn"`
	Superseded       int64 `json:"superseded"`
	DeadLetters      int64 `json:"deadLetters"`
	DeadLetterErrors int64 `json:"deadLetterErrors"`
	CallbackPanics   int64 `json:"callbackPanics"`
}

type buffer struct {
	Actions       int     `json:"actions"`
	MostActions   int     `json:"mostActions"`
	Bytes         int64   `json:"bytes"`
	MostBytes     int64   `json:"mostBytes"`
	OldestSeconds float64 `json:"oldestSeconds"`
	Blocked       int     `json:"blockedCalls"`
	SetApart      int     `json:"setApart"`
}

type requests struct {
	InFlight     int     `json:"inFlight"`
	MostInFlight int     `json:"mostInFlight"`
	Started      int64   `json:"started"`
	Retries      int64   `json:"retriedActions"`
	Throttled    int64   `json:"throttledActions"`
	Splits       int64   `json:"splits"`
	Pauses       int64   `json:"pauses"`
	BatchActions int     `json:"mostBatchActions"`
	BatchBytes   int     `json:"mostBatchBytes"`
	Interval     float64 `json:"intervalSeconds"`
}

type fleetState struct {
	Name    string `json:"name"`
	Indexes int    `json:"indexes"`
	Senders int    `json:"senders"`
	Service string `json:"service,omitempty"` // why nothing is sent to any index

	Slots          int          `json:"slots"`
	Late           int          `json:"late"`
	Classes        []classState `json:"classes"`
	Actions        int64        `json:"grantedActions"`
	MostActions    int64        `json:"mostActions"`
	Bytes          int64        `json:"grantedBytes"`
	MostBytes      int64        `json:"mostBytes"`
	WaitingForRoom int          `json:"waitingForRoom"`
}

type classState struct {
	Name    string `json:"name"`
	InUse   int    `json:"inUse"`
	Waiting int    `json:"waiting"`
}

type queueState struct {
	Name          string    `json:"name"`
	Waiting       int64     `json:"waiting"`
	Leased        int64     `json:"leased"`
	Parked        int64     `json:"parked"`
	Bytes         int64     `json:"bytes"`
	OldestSeconds float64   `json:"oldestSeconds"`
	Expired       int64     `json:"expiredLeases"`
	Paused        bool      `json:"paused"`
	PauseReason   string    `json:"pauseReason,omitempty"`
	LastReserved  time.Time `json:"lastReserved,omitzero"`
	Survives      string    `json:"survives,omitempty"`
	Estimated     bool      `json:"estimated,omitempty"`
	Fault         string    `json:"fault,omitempty"`
	At            time.Time `json:"at,omitzero"` // of these numbers
	Error         string    `json:"error,omitempty"`
}

type outboxState struct {
	Name                     string      `json:"name"`
	Rows                     int64       `json:"rows"`
	Estimated                bool        `json:"estimated,omitempty"`
	OldestSeconds            float64     `json:"oldestSeconds"`
	DeadLetters              int64       `json:"deadLetters"`
	Paused                   bool        `json:"paused"`
	OldestTransactionSeconds float64     `json:"oldestTransactionSeconds"`
	At                       time.Time   `json:"at,omitzero"` // of these numbers
	Error                    string      `json:"error,omitempty"`
	Relay                    *relayState `json:"relay,omitempty"`
}

type relayState struct {
	NotReady   string `json:"notReady,omitempty"`
	Ranges     int64  `json:"ranges"`
	InHand     int64  `json:"inHand"`
	Aside      int64  `json:"aside"`
	Read       int64  `json:"read"`
	Sent       int64  `json:"sent"`
	Deleted    int64  `json:"deleted"`
	Dead       int64  `json:"dead"`
	Failed     int64  `json:"failed"`
	LeasesLost int64  `json:"leasesLost"`
}

func (p *page) state() state {
	s := state{At: time.Now(), Began: p.began, HideKeys: p.opts.HideKeys, Senders: []senderState{}, Fleets: []fleetState{}}
	for _, name := range slices.Sorted(maps.Keys(p.opts.Senders)) {
		s.Senders = append(s.Senders, p.sender("", name, p.opts.Senders[name], s.At))
	}
	for _, name := range slices.Sorted(maps.Keys(p.opts.Fleets)) {
		f := p.opts.Fleets[name]
		s.Fleets = append(s.Fleets, fleetOf(name, f))
		senders := f.Senders()
		for _, index := range slices.Sorted(maps.Keys(senders)) {
			s.Senders = append(s.Senders, p.sender(name, index, senders[index], s.At))
		}
	}
	p.mu.Lock()
	maps.DeleteFunc(p.rates, func(_ string, r *rate) bool { return s.At.Sub(r.read) > rateKept })
	p.mu.Unlock()
	var wait sync.WaitGroup
	queues := slices.Sorted(maps.Keys(p.opts.Queues))
	s.Queues = make([]queueState, len(queues))
	for i, name := range queues {
		wait.Go(func() { s.Queues[i] = p.queue(name) })
	}
	outboxes := slices.Sorted(maps.Keys(p.opts.Outboxes))
	s.Outboxes = make([]outboxState, len(outboxes))
	for i, name := range outboxes {
		wait.Go(func() { s.Outboxes[i] = p.outbox(name) })
	}
	wait.Wait()
	return s
}

func (p *page) sender(of, name string, from bufferedsender.Observable, now time.Time) senderState {
	n, h, limits := from.Stats(), from.Health(), from.Control().Limits
	s := senderState{
		Name: name, Fleet: of, State: h.State.String(), Since: h.Since, Reason: words(h.Err),
		Counts: counts{
			Accepted: n.Accepted, Completed: n.Completed, Failed: n.Failed, Unsent: n.Unsent, Purged: n.Purged, Withdrawn: n.Withdrawn, Superseded: n.Superseded,
			DeadLetters: n.DeadLetters, DeadLetterErrors: n.DeadLetterErrors, CallbackPanics: n.CallbackPanics,
		},
		Buffer: buffer{
			Actions: n.PendingActions, MostActions: limits.MaxBufferedActions, Bytes: n.PendingBytes, MostBytes: limits.MaxBufferedBytes,
			OldestSeconds: n.OldestAge.Seconds(), Blocked: n.BlockedProducers, SetApart: n.HeldApart,
		},
		Requests: requests{
			InFlight: n.InFlight, MostInFlight: n.InFlightLimit, Started: n.Requests, Retries: n.Retries, Throttled: n.Throttled, Splits: n.Splits, Pauses: n.Pauses,
			BatchActions: n.BatchActionsLimit, BatchBytes: n.BatchBytesLimit, Interval: n.RequestInterval.Seconds(),
		},
	}
	if h.Err == nil {
		s.Reason = h.Reason
	}
	if open := (*breaker.OpenError)(nil); errors.As(h.Err, &open) {
		s.Until, s.Reason = open.Status.Until, cmp.Or(words(open.Status.Err), s.Reason)
	}
	watched := name
	if of != "" {
		watched = of + "/" + name // another fleet may have the same index
	}
	s.Latency, s.Failures = p.opts.Recent.read(watched, p.opts.HideKeys)
	p.mu.Lock()
	defer p.mu.Unlock()
	key := of + "\x00" + name
	if p.rates[key] == nil {
		p.rates[key] = new(rate)
	}
	s.PerSecond, s.BytesPerSecond = p.rates[key].add(sample{now, n.Completed, n.BytesSent})
	return s
}

// words describes an error without any content of a document.
func words(err error) string {
	if err == nil {
		return ""
	}
	_, status := retry.ForError(err)
	return harmless.Words(status, err)
}

func fleetOf(name string, f *fleet.Fleet) fleetState {
	n := f.Stats()
	s := fleetState{
		Name: name, Indexes: n.Indexes, Senders: n.Senders, Service: words(f.Health().Service),
		Slots: n.Pool.Slots, Late: n.Pool.Late, WaitingForRoom: n.Pool.WaitingForRoom,
		Actions: n.Pool.GrantedActions, MostActions: n.Pool.BudgetActions, Bytes: n.Pool.GrantedBytes, MostBytes: n.Pool.BudgetBytes,
	}
	for c, of := range n.Pool.Classes {
		s.Classes = append(s.Classes, classState{models.Class(c).String(), of.InUse, of.Waiting})
	}
	return s
}

func (p *page) queue(name string) queueState {
	q := p.opts.Queues[name]
	s, at, err := p.queues[name].get(queueEvery, func(ctx context.Context) (s queueState, err error) {
		n, err := q.Stats(ctx)
		if err != nil {
			return s, err
		}
		s = queueState{
			Waiting: n.Waiting, Leased: n.Leased, Parked: n.Parked, Bytes: n.Bytes, Expired: n.Expired, OldestSeconds: age(n.Oldest),
			Paused: n.Paused, PauseReason: n.PauseReason, LastReserved: n.LastReserved, Estimated: n.Estimated,
		}
		if survivor, ok := q.(queue.Survivor); ok {
			s.Survives = survivor.Survives()
		}
		if faulty, ok := q.(queue.Faulty); ok && faulty.Fault() != nil {
			s.Fault = faulty.Fault().Error()
		}
		return s, nil
	})
	s.Name, s.At, s.Error = name, at, text(err)
	return s
}

func (p *page) outbox(name string) outboxState {
	o := p.opts.Outboxes[name]
	s, at, err := p.outboxes[name].get(outboxEvery, func(ctx context.Context) (s outboxState, err error) {
		if err := o.ready(); err != nil {
			return s, err
		}
		lag, err := o.Table.Lag(ctx, o.DB)
		return outboxState{
			Rows: lag.Rows, Estimated: lag.Estimated, OldestSeconds: lag.Oldest.Seconds(), DeadLetters: lag.Dead, Paused: lag.Paused,
			OldestTransactionSeconds: lag.OldestTransaction.Seconds(),
		}, err
	})
	s.Name, s.At, s.Error = name, at, text(err)
	if o.Relay != nil {
		n := o.Relay.Stats()
		s.Relay = &relayState{
			NotReady: words(o.Relay.Ready()), Ranges: n.Ranges, InHand: n.InHand, Aside: n.Aside, Read: n.Read, Sent: n.Sent, Deleted: n.Deleted,
			Dead: n.Dead, Failed: n.Failed, LeasesLost: n.LeasesLost,
		}
	}
	return s
}

// age returns how long ago t was, in seconds, or 0 if unknown.
func age(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return max(0, time.Since(t).Seconds())
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
