package sendertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/deadletter"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
)

// observed has the calls of the hooks of a schedule, guarded by its mu.
type observed struct {
	inside     bool // a hook runs
	cuts       map[string]*cut
	cutOf      map[string]*cut // the last one that begins with a key
	batches    int             // BatchCompleted events,
	notSent    int             // of these, of requests that were not sent
	health     events.HealthState
	letters    map[string][]deadletter.Letter // by key, those without an event yet
	largest    int                            // batch, in actions,
	atOnce     int                            // and the maximum number under way at once
	apart      bool                           // actions were set apart while a request arrived
	purged     map[string]int                 // ErrPurged events, by key
	purgedKeys map[string]int                 // keys passed to OnPurged
	holds      int                            // holds that got their keys,
	// and the actions and bytes they may have added beyond the high-water mark
	heldActions, heldBytes int
	unknown                int // unsent actions that may have been applied
	closed                 bool
	closedErr              bool // the Closed handler has failed

	panics          int
	adds            int
	taken, notTaken int // dead letters
}

func newObserved() observed {
	return observed{
		cuts: map[string]*cut{}, cutOf: map[string]*cut{}, letters: map[string][]deadletter.Letter{},
		purged: map[string]int{}, purgedKeys: map[string]int{},
	}
}

func (s *schedule) handlers() events.Handlers[modelDoc] {
	return events.Handlers[modelDoc]{
		ActionSent: func(ctx context.Context, e *events.ActionSent[modelDoc]) {
			s.hook(ctx, func() { s.sent(e) })
		},
		ActionCompleted: func(ctx context.Context, e *events.ActionCompleted[modelDoc]) {
			s.hook(ctx, func() {
				s.end(s.find(e.Action, e.Key), e.Key, "completed", false, e.Folded, e.Superseded)
			})
		},
		ActionFailed: func(ctx context.Context, e *events.ActionFailed[modelDoc]) {
			s.hook(ctx, func() { s.failed(e) })
		},
		BatchCompleted: func(ctx context.Context, e *events.Batch) {
			s.hook(ctx, func() { s.batch(e) })
		},
		HealthChanged: func(ctx context.Context, e *events.HealthChange) {
			s.hook(ctx, func() {
				if e.From != s.observed.health || e.From == e.To {
					s.errorf("health from %v to %v; it was %v", e.From, e.To, s.observed.health)
				}
				s.observed.health = e.To
			})
		},
		Closed: s.closed,
	}
}

// hook records the call of a hook, which may then misbehave.
func (s *schedule) hook(ctx context.Context, note func()) {
	s.enterHook(note)
	defer s.leaveHook()
	s.misbehave(ctx)
}

func (s *schedule) enterHook(note func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.observed.inside || s.observed.closed {
		s.errorf("a hook runs during another one (%t) or after Closed (%t)", s.observed.inside, s.observed.closed)
	}
	s.observed.inside = true
	note()
}

func (s *schedule) leaveHook() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.observed.inside = false
}

func (s *schedule) sent(e *events.ActionSent[modelDoc]) {
	if s.observed.cuts[e.BatchID] == nil {
		s.cutNow(e.BatchID, e.Key)
	}
	if r, ok := e.Action.Tag.(*record); ok {
		r.sent++
	}
	if e.Attempt < 1 {
		s.errorf("attempt %d", e.Attempt)
	}
}

func (s *schedule) batch(e *events.Batch) {
	s.observed.batches++
	s.observed.largest = max(s.observed.largest, e.Actions)
	if errors.Is(e.Err, bufferedsender.ErrNotSent) {
		s.observed.notSent++
	}
	switch c := s.observed.cuts[e.ID]; {
	case c == nil:
		s.errorf("a reply to a request that no ActionSent event announced: %+v", e)
	case c.actions > 0 && (c.actions != e.Actions || int64(c.bytes) != e.Bytes):
		s.errorf("a request had %d actions and %d bytes, not %+v", c.actions, c.bytes, e)
	}
	sum := e.Actions
	if e.Split {
		sum = 0
	}
	if e.Succeeded+e.Failed+e.Retried != sum {
		s.errorf("a reply does not add up: %+v", e)
	}
}

// find returns the record of an action. Deletes by key have no tag and are found by key, oldest first.
func (s *schedule) find(a models.IndexDocumentsAction[modelDoc], key string) *record {
	if r, ok := a.Tag.(*record); ok {
		return r
	}
	for _, r := range s.records {
		if r.key == key && r.action.Type == models.ActionTypeDelete && len(r.ended) == 0 && r.byKey() {
			return r
		}
	}
	return nil
}

func (s *schedule) end(r *record, key, how string, unknown, folded, superseded bool) {
	if r == nil {
		s.errorf("%s of an action of key %q that was never added", how, key)
		return
	}
	r.ended = append(r.ended, how)
	r.unknown, r.folded, r.dropped = unknown, folded, superseded
	s.settleOrder[key] = append(s.settleOrder[key], r)
}

func (s *schedule) failed(e *events.ActionFailed[modelDoc]) {
	how := "failed"
	if errors.Is(e.Err, bufferedsender.ErrClosed) {
		how = "unsent"
		if e.Unknown {
			s.observed.unknown++
		}
	}
	if e.Unsent != (how == "unsent") {
		s.errorf("Unsent is %t: %v", e.Unsent, e.Err)
	}
	if errors.Is(e.Err, bufferedsender.ErrPurged) {
		s.observed.purged[e.Key]++
	}
	r := s.find(e.Action, e.Key)
	if r != nil {
		r.takenBack = errors.Is(e.Err, bufferedsender.ErrWithdrawn)
	}
	if r != nil && s.options.DeadLetters != nil && !errors.Is(e.Err, bufferedsender.ErrWithdrawn) && s.deadLetterIsKnown(e.Action.Tag) {
		s.checkDeadLetter(r, e)
	}
	s.end(r, e.Key, how, e.Unknown, e.Folded, e.Superseded)
}

// deadLetterIsKnown reports whether the action of a dead letter can be identified. Deletes by key have no tag and look
// alike, and only one of several folded ones has a dead letter.
func (s *schedule) deadLetterIsKnown(tag any) bool { return tag != nil || s.options.Folding == nil }

// checkDeadLetter checks the dead letter of an action. Only the first of several folded actions has one.
func (s *schedule) checkDeadLetter(r *record, e *events.ActionFailed[modelDoc]) {
	if e.Unsent && e.Superseded { // the newer one has the dead letter, or was applied
		return
	}
	letters := s.observed.letters[e.Key]
	if len(letters) == 0 || letters[0].Tag != e.Action.Tag {
		before := s.settleOrder[e.Key]
		n := len(before) - 1
		if !e.Folded || n < 0 || !before[n].folded || before[n].ended[0] == "completed" {
			s.errorf("action %d of key %s has failed without a dead letter: %v", r.id, e.Key, e.Err)
		}
		return
	}
	l := letters[0]
	s.observed.letters[e.Key] = letters[1:]
	var why *bufferedsender.ActionError
	if !errors.As(e.Err, &why) {
		s.errorf("an action has failed with %T", e.Err)
		return
	}
	if l.Index != "model" || l.Unsent != e.Unsent || l.Unknown != e.Unknown || l.Attempts != e.Attempts ||
		l.Status != why.Status || l.Message != why.Message || l.Error != why.Error() || l.Last.Before(l.First) {
		s.errorf("the dead letter %+v is about %+v", l, e)
	}
	if e.Folded {
		return // the dead letter has the folded action
	}
	want, err := json.Marshal(r.action.Document)
	if r.action.Type == models.ActionTypeDelete {
		want, err = json.Marshal(modelDoc{ID: r.key})
	}
	orPanic(err)
	if l.Action != r.action.Type || string(l.Document) != string(want) {
		s.errorf("the dead letter of action %d is %s %s, not %s %s", r.id, l.Action, l.Document, r.action.Type, want)
	}
}

func (s *schedule) onPurged(ctx context.Context, keys []string) {
	s.hook(ctx, func() {
		for _, key := range keys {
			if s.observed.purgedKeys[key]++; s.observed.purgedKeys[key] > s.observed.purged[key] {
				s.errorf("OnPurged got key %s before or without its event", key)
			}
		}
	})
}

var errModel = errors.New("the model refuses")

func (s *schedule) closed(context.Context) error {
	s.enterHook(func() {})
	defer s.leaveHook()
	s.mu.Lock()
	s.observed.closed = true
	what := s.draw("panic", "exit", "error")
	s.observed.closedErr = what != ""
	s.mu.Unlock()
	return s.fall(what)
}

type modelSink struct{ s *schedule }

func (m modelSink) Write(_ context.Context, letters []deadletter.Letter) error {
	s := m.s
	var what string
	s.enterHook(func() {
		for _, l := range letters {
			if s.deadLetterIsKnown(l.Tag) {
				s.observed.letters[l.Key] = append(s.observed.letters[l.Key], l)
			}
		}
		switch what = s.draw("panic", "exit", "error"); what {
		case "":
			s.observed.taken += len(letters)
		default:
			s.observed.notTaken += len(letters)
		}
	})
	defer s.leaveHook()
	return s.fall(what)
}

// draw returns "", or a way in which a hook must misbehave. The caller has mu.
func (s *schedule) draw(ways ...string) string {
	if s.misbehaving == 0 || s.rnd.IntN(1000) >= s.misbehaving {
		return ""
	}
	what := ways[s.rnd.IntN(len(ways))]
	if what == "panic" {
		s.observed.panics++
	}
	return what
}

// fall ends a hook in the given way.
func (s *schedule) fall(what string) error {
	switch what {
	case "panic":
		panic("the model panics")
	case "exit":
		runtime.Goexit()
	case "error":
		return errModel
	}
	return nil
}

// misbehave does what a hook should avoid but may do.
func (s *schedule) misbehave(ctx context.Context) {
	s.mu.Lock()
	what := s.draw("panic", "panic", "exit", "exit", "pause", "reset", "limits", "add", "try", "wait")
	limits := bufferedsender.Limits{MaxBatchActions: 1 + s.rnd.IntN(3), MaxInFlight: s.rnd.IntN(3), MaxBufferedActions: s.rnd.IntN(4)}
	if s.rnd.IntN(2) == 0 {
		ctx = context.Background() // then the sender must recognize its goroutine
	}
	s.mu.Unlock()
	switch what {
	case "panic", "exit":
		_ = s.fall(what)
	case "pause":
		s.pause(true)
		time.AfterFunc(10*time.Millisecond, s.resume)
	case "reset":
		if b := s.sender.Breaker(); b != nil {
			b.Reset()
		}
	case "limits":
		s.setLimits(true, limits)
	case "add", "try":
		s.addInHook(ctx, what)
	case "wait":
		_, err := s.sender.IndexDocumentsAndWait(ctx, []models.IndexDocumentsAction[modelDoc]{models.UploadAction(modelDoc{ID: "never"})}, nil)
		for _, err := range []error{err, s.sender.Flush(ctx, nil), s.sender.Close(ctx)} {
			if !errors.Is(err, bufferedsender.ErrInCallback) {
				s.fail("a hook that waits gets %v", err)
			}
		}
	}
}

func (s *schedule) addInHook(ctx context.Context, how string) {
	const most = 30 // otherwise it could continue forever
	s.mu.Lock()
	r := &record{id: len(s.records), caller: -1, key: fmt.Sprintf("h-%d", s.rnd.IntN(3)), added: 1}
	a, b := "hook", int64(r.id)
	r.action = models.UploadAction(modelDoc{ID: r.key, A: &a, B: &b}).WithTag(r)
	if s.observed.adds++; s.observed.adds <= most {
		s.records = append(s.records, r)
	}
	enough := s.observed.adds > most
	s.mu.Unlock()
	if enough {
		return
	}
	var err error
	if how == "add" {
		err = s.sender.IndexDocuments(ctx, r.action)
	} else {
		err = s.sender.TryIndexDocuments(r.action)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.accepted = err == nil; !r.accepted {
		r.added = 0
	}
	switch {
	case err == nil, errors.Is(err, bufferedsender.ErrBufferFull), errors.Is(err, bufferedsender.ErrClosed), errors.Is(err, bufferedsender.ErrDocumentTooLarge):
	default:
		s.errorf("an action added in a hook was refused: %v", err)
	}
}
