package dashboard

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/internal/harmless"
	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/webpage"
)

// oldestKeys limits a list of the oldest keys.
const oldestKeys = 10

// entry is a key in a queue or an outbox.
type entry struct {
	Key      string    `json:"key,omitempty"`
	State    string    `json:"state"`
	Since    time.Time `json:"since,omitzero"`
	Holder   string    `json:"holder,omitempty"`
	Until    time.Time `json:"until,omitzero"` // of the lease
	Due      time.Time `json:"due,omitzero"`
	Reason   string    `json:"reason,omitempty"`
	Status   int       `json:"status,omitempty"`
	Tries    int       `json:"tries,omitempty"`
	ParkedAt time.Time `json:"parkedAt,omitzero"`
}

// place holds the answer of one queue, outbox or sender about a key.
type place struct {
	Kind    string  `json:"kind"` // sender, queue, outbox
	Name    string  `json:"name"`
	Found   bool    `json:"found"`
	Entries []entry `json:"entries,omitempty"`
	Error   string  `json:"error,omitempty"`
}

// oldest returns the records that have waited longest in a queue, or dead letters of an outbox. The cost may be
// proportional to its content, so it is not part of the state.
func (p *page) oldest(w http.ResponseWriter, r *http.Request) {
	var ask func(ctx context.Context) ([]entry, error)
	if name := r.FormValue("queue"); name != "" {
		if q, ok := p.opts.Queues[name]; ok {
			ask = func(ctx context.Context) ([]entry, error) {
				return p.inspect(ctx, q, queue.Inspection{Limit: oldestKeys})
			}
		}
	} else if o, ok := p.opts.Outboxes[r.FormValue("outbox")]; ok {
		ask = func(ctx context.Context) ([]entry, error) { return p.deadLetters(ctx, o) }
	}
	if ask == nil {
		webpage.Refuse(w, http.StatusNotFound, "queue or outbox not found: use a name of the state, as ?queue= or ?outbox=")
		return
	}
	entries, err := slowly(p, ask)
	if err != nil {
		webpage.Refuse(w, http.StatusServiceUnavailable, err.Error())
		return
	}
	webpage.WriteJSON(w, http.StatusOK, map[string]any{"entries": append([]entry{}, entries...)})
}

var errTooMany = errors.New("too many slow requests; try again when they have ended")

// slowly calls ask with more time than the state allows. Up to eight calls that do not return are left behind.
func slowly[T any](p *page, ask func(ctx context.Context) (T, error)) (T, error) {
	var none T
	select {
	case p.slow <- struct{}{}:
	default:
		return none, errTooMany
	}
	var value T
	err := errNoAnswer
	done := make(chan struct{})
	go func() {
		defer func() { <-p.slow }()
		defer close(done)
		value, err = contained(ask)
	}()
	if !within(longest+patience, done) {
		return none, errNoAnswer
	}
	return value, err
}

// inspect returns entries of a queue.
func (p *page) inspect(ctx context.Context, q queue.Queue, what queue.Inspection) ([]entry, error) {
	admin, ok := q.(queue.Admin)
	if !ok {
		return nil, errors.New("the queue cannot be inspected: it does not implement queue.Admin")
	}
	all, err := admin.Inspect(ctx, what)
	if err != nil {
		return nil, err
	}
	entries := make([]entry, len(all))
	for i := range all {
		e := &all[i]
		entries[i] = entry{p.shown(e.Key), stateOf(e.State), e.Since, e.Holder, e.Until, e.Due, whyParked(e.Reason), 0, e.Tries, e.ParkedAt}
	}
	return entries, nil
}

// whyParked returns the reason of a parked key without its key and without contents of its document. A sender parks
// with the text of an *bufferedsender.ActionError, in which the service's explanation follows a colon, or with an error
// about an action of the Loader. Any other reason is from an operator.
func whyParked(reason string) string {
	action, rest, failed := strings.Cut(reason, ` of document "`)
	if _, end, quoted := strings.Cut(rest, `" failed`); failed && quoted {
		outcome, _, _ := strings.Cut(end, ":")
		text := action + " failed" + outcome
		if why := harmless.Reason(http.StatusBadRequest, reason); why != "" {
			text += ": " + why
		}
		return text
	}
	if tried, _, rejected := strings.Cut(reason, " times: "); rejected && strings.Contains(tried, "Loader") {
		return tried + " times"
	}
	return reason
}

func (p *page) deadLetters(ctx context.Context, o Outbox) ([]entry, error) {
	if err := o.ready(); err != nil {
		return nil, err
	}
	all, err := o.Table.DeadLetters(ctx, o.DB, 0, oldestKeys)
	if err != nil {
		return nil, err
	}
	entries := make([]entry, len(all))
	for i := range all {
		// Not Message, which is the service's own explanation and quotes documents.
		entries[i] = entry{Key: p.shown(all[i].Key), State: "dead letter", Since: all[i].Died, Reason: all[i].Reason, Status: all[i].Status, Tries: all[i].Attempts}
	}
	return entries, nil
}

// shown returns a key, or "" if keys are hidden.
func (p *page) shown(key string) string {
	if p.opts.HideKeys {
		return ""
	}
	return key
}

// stateOf returns the name of the most important state of an entry.
func stateOf(s queue.State) string {
	switch {
	case s&queue.Parked != 0:
		return "parked"
	case s&queue.Leased != 0:
		return "leased"
	}
	return "waiting"
}

// find returns where a key is.
func (p *page) find(w http.ResponseWriter, r *http.Request) {
	key := r.FormValue("key")
	if key == "" {
		webpage.Refuse(w, http.StatusBadRequest, "key is empty: use ?key=")
		return
	}
	var places []place
	var asks []func(ctx context.Context) (place, error)
	add := func(kind, name string, ask func(ctx context.Context, at *place) error) {
		places = append(places, place{Kind: kind, Name: name})
		asks = append(asks, func(ctx context.Context) (place, error) {
			at := place{Kind: kind, Name: name}
			err := ask(ctx, &at)
			return at, err
		})
	}
	addSender := func(name string, s bufferedsender.Observable) {
		add("sender", name, func(_ context.Context, at *place) error {
			at.Found = s.Contains(key)[0]
			return nil
		})
	}
	for _, name := range slices.Sorted(maps.Keys(p.opts.Senders)) {
		addSender(name, p.opts.Senders[name])
	}
	for _, name := range slices.Sorted(maps.Keys(p.opts.Fleets)) {
		senders := p.opts.Fleets[name].Senders()
		for _, index := range slices.Sorted(maps.Keys(senders)) {
			addSender(name+"/"+index, senders[index])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.opts.Queues)) {
		add("queue", name, func(ctx context.Context, at *place) (err error) {
			at.Entries, err = p.inspect(ctx, p.opts.Queues[name], queue.Inspection{Keys: []string{key}})
			at.Found = len(at.Entries) > 0
			return err
		})
	}
	for _, name := range slices.Sorted(maps.Keys(p.opts.Outboxes)) {
		add("outbox", name, func(ctx context.Context, at *place) error {
			o := p.opts.Outboxes[name]
			if err := o.ready(); err != nil {
				return err
			}
			found, err := o.Table.Contains(ctx, o.DB, key)
			at.Found = err == nil && found[0]
			return err
		})
	}
	p.ask(places, asks)
	webpage.WriteJSON(w, http.StatusOK, map[string]any{"places": append([]place{}, places...)})
}

// ask fills in the places, a few at a time.
func (p *page) ask(places []place, asks []func(ctx context.Context) (place, error)) {
	var wait sync.WaitGroup
	turns := make(chan struct{}, cap(p.slow)/2)
	for i := range places {
		turns <- struct{}{}
		wait.Go(func() {
			defer func() { <-turns }()
			at, err := slowly(p, asks[i])
			if err == nil {
				places[i] = at
			}
			places[i].Error = text(err)
		})
	}
	wait.Wait()
}
