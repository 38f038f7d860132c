package sendertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry/breaker"
)

func (s *schedule) run() {
	var callers sync.WaitGroup
	for _, steps := range s.callers {
		callers.Go(func() {
			for _, st := range steps {
				s.do(st)
			}
		})
	}
	if s.other != nil {
		callers.Go(s.useOther)
	}
	var closing sync.WaitGroup
	closing.Go(func() {
		time.Sleep(s.closeAt)
		ctx, cancel := context.Background(), context.CancelFunc(func() {})
		s.mu.Lock()
		s.closing = true
		s.mu.Unlock()
		if s.closeIn > 0 {
			ctx, cancel = context.WithTimeout(ctx, s.closeIn)
		}
		defer cancel()
		began := time.Now()
		s.closeErr = s.sender.Close(ctx)
		if took := time.Since(began); s.closeIn > 0 && took > s.closeIn+3*time.Second {
			s.fail("Close took %v with a deadline of %v", took, s.closeIn)
		}
	})
	callers.Wait()
	closing.Wait()
	if again := s.sender.Close(context.Background()); again != s.closeErr { //nolint:errorlint // the very same value is promised
		s.errorf("a second Close returned %v, not %v", again, s.closeErr)
	}
	s.server.Close()
}

// useOther uses the other sender, so that both open, probe and close the shared breaker.
func (s *schedule) useOther() {
	for i := range 12 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		_, err := s.other.IndexDocumentsAndWait(ctx, []models.IndexDocumentsAction[modelDoc]{models.UploadAction(modelDoc{ID: fmt.Sprint(otherPrefix, i)})}, nil)
		cancel()
		if _, there := s.server.Documents("model")[fmt.Sprint(otherPrefix, i)]; err == nil && !there {
			s.fail("document %d of the other sender is not in the index", i)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_ = s.other.Close(ctx) // the check of Stats decides whether it may fail
	st := s.other.Stats()
	if st.Accepted != st.Completed+st.Failed+st.Unsent || st.PendingActions != 0 || st.PendingBytes != 0 || st.InFlight != 0 {
		s.fail("the other sender: %+v", st)
	}
}

func (s *schedule) do(st step) {
	ctx, cancel := context.Background(), context.CancelFunc(func() {})
	if st.wait > 0 && st.kind != "sleep" {
		ctx, cancel = context.WithTimeout(ctx, st.wait)
	}
	defer cancel()
	ctx = models.WithClass(ctx, st.class)
	switch st.kind {
	case "sleep":
		time.Sleep(st.wait)
		return
	case "flush":
		s.flush(ctx)
		return
	case "pause":
		s.pause(false)
		time.Sleep(st.wait)
		s.resume()
		return
	case "breaker":
		if b := s.sender.Breaker(); b != nil {
			s.change(false, func(r *rules) { b.Disable(); r.disabled = true })
			time.Sleep(st.wait)
			s.change(false, func(r *rules) { b.Enable(); r.disabled = false })
		}
		return
	case "reset":
		if b := s.sender.Breaker(); b != nil {
			b.Reset()
		}
		if s.whole != nil {
			s.whole.Reset()
		}
		return
	case "trip": // other indexes find the service out of order
		if s.whole != nil {
			if permit, err := s.whole.Allow(); err == nil {
				permit.Done(breaker.Result{Outcome: breaker.Trip, Err: errors.New("other indexes fail")})
			}
		}
		return
	case "limits":
		s.setLimits(false, st.limits)
		return
	case "control":
		s.setControl(st.control)
		return
	case "withdraw":
		s.withdraw()
		return
	case "hold":
		s.hold(ctx, st)
		return
	}
	s.add(ctx, st)
}

// add executes the steps that add actions.
func (s *schedule) add(ctx context.Context, st step) {
	s.mu.Lock()
	mine := make([]*record, len(st.actions))
	for i, a := range st.actions {
		mine[i] = a.Tag.(*record)
		mine[i].added, mine[i].class = 1, st.class
		mine[i].waited = st.kind == "wait"
		if st.kind == "deleteKeys" {
			mine[i].added = 2
		}
	}
	s.mu.Unlock()
	var err error
	switch st.kind {
	case "add":
		err = s.sender.IndexDocuments(ctx, st.actions...)
	case "wait":
		err = s.addAndWait(ctx, st.actions, mine)
	case "try":
		err = s.sender.TryIndexDocuments(st.actions...)
	case "seq":
		err = s.sender.IndexSeq(ctx, func(yield func(models.IndexDocumentsAction[modelDoc], error) bool) {
			for _, a := range st.actions {
				if !yield(a, nil) {
					return
				}
			}
		}, nil)
	case "deleteKeys":
		var keys []string
		for _, a := range st.actions {
			keys = append(keys, a.Document.ID)
		}
		err = s.sender.DeleteDocumentsByKey(ctx, keys...)
	}
	accepted := len(st.actions)
	if err != nil {
		var refusal *bufferedsender.AddError
		if !errors.As(err, &refusal) {
			s.fail("%s returned %T", st.kind, err)
			return
		}
		accepted = refusal.Accepted
		switch {
		case errors.Is(err, bufferedsender.ErrClosed), errors.Is(err, context.DeadlineExceeded),
			errors.Is(err, bufferedsender.ErrDocumentTooLarge):
		case errors.Is(err, bufferedsender.ErrBufferFull) && (st.kind == "try" || s.options.DisableAutoFlush):
		case errors.Is(err, bufferedsender.ErrBufferFull) && errors.Is(err, bufferedsender.ErrCircuitOpen) && s.mayReject():
		default:
			s.fail("%s was refused: %v", st.kind, err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, r := range mine {
		if r.accepted = i < accepted; !r.accepted {
			r.added = 0
		}
	}
}

// addAndWait checks the results, and returns nil or the error of adding.
func (s *schedule) addAndWait(ctx context.Context, actions []models.IndexDocumentsAction[modelDoc], mine []*record) error {
	results, err := s.sender.IndexDocumentsAndWait(ctx, actions, nil)
	var incomplete *bufferedsender.WaitError
	if err != nil && !errors.As(err, &incomplete) {
		s.fail("IndexDocumentsAndWait returned %T", err)
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var failed, withdrawn int
	given := map[int]*bufferedsender.ActionError{} // by position, for actions that were not completed
	if incomplete != nil {
		at := 0
		for _, e := range incomplete.Errors {
			for at < len(results) && (results[at].Key != e.Key || results[at].Succeeded) {
				at++
			}
			given[at] = e
			at++
		}
	}
	for i, result := range results {
		r, e := mine[i], given[i]
		switch {
		case result.Key != r.key:
			s.errorf("result %d is about %q, not %q", i, result.Key, r.key)
		case e != nil && errors.Is(e, bufferedsender.ErrWithdrawn) && result.StatusCode == 0:
			withdrawn++
			r.givenUp = true
			r.certain = !e.Unknown
		case len(r.ended) == 0:
			s.errorf("a result %+v of an action that is not settled", result)
		case r.ended[0] == "completed":
			if !result.Succeeded && s.options.OnMergeMissing != bufferedsender.MergeMissingIgnore {
				s.errorf("a completed action has the result %+v", result)
			}
		default:
			failed++
		}
	}
	if incomplete == nil {
		if len(results) != len(actions) || failed+withdrawn > 0 {
			s.errorf("no error, %d results of %d, %d failed, %d withdrawn", len(results), len(actions), failed, withdrawn)
		}
		return nil
	}
	// Actions taken back by Withdraw count as failed.
	if incomplete.Failed < failed || incomplete.Failed+incomplete.Withdrawn+incomplete.Unknown != failed+withdrawn || failed+withdrawn != len(incomplete.Errors) {
		s.errorf("%+v; %d failed and %d were withdrawn", incomplete, failed, withdrawn)
	}
	var refusal *bufferedsender.AddError
	if errors.As(incomplete.Err, &refusal) {
		if len(results) != refusal.Accepted {
			s.errorf("%d results, %d accepted", len(results), refusal.Accepted)
		}
		return incomplete.Err
	}
	if len(results) != len(actions) {
		s.errorf("%d results of %d", len(results), len(actions))
	}
	return nil
}

// hold holds the keys of the first half of the actions, adds the second half, and then adds the first half in the hold.
// Actions of held keys in the second half must wait.
func (s *schedule) hold(ctx context.Context, st step) {
	held, since := st.actions[:(len(st.actions)+1)/2], st.actions[(len(st.actions)+1)/2:]
	raw := make([]models.RawAction, len(held))
	keys := make([]string, len(held))
	for i, a := range held {
		r := a.Tag.(*record)
		document, err := json.Marshal(a.Document)
		orPanic(err)
		raw[i], keys[i] = models.RawAction{Key: r.key, Type: a.Type, Document: document, Tag: r, OnOutcome: a.OnOutcome}, r.key
	}
	err := s.sender.Raw().HoldKeys(ctx, keys, func(_ context.Context, add func(actions ...models.RawAction) error) error {
		s.mu.Lock()
		s.observed.holds++
		s.observed.heldActions += len(raw)
		for _, a := range raw {
			s.observed.heldBytes += len(`{"@search.action":"mergeOrUpload",`) + len(a.Document)
		}
		for _, r := range s.records {
			if r.accepted && len(r.ended) == 0 && slices.Contains(keys, r.key) {
				s.errorf("key %s is held, and action %d has not ended", r.key, r.id)
			}
		}
		s.mu.Unlock()
		s.behind(since)                               // before they are accepted: another caller may withdraw them at once
		s.add(ctx, step{kind: "try", actions: since}) // a wait for room would wait for this hold
		time.Sleep(10 * time.Millisecond)
		err := add(raw...)
		if refused := (*bufferedsender.AddError)(nil); err != nil && (!errors.As(err, &refused) || refused.Accepted != 0) {
			s.fail("a hold returned %v", err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, a := range held {
			r := a.Tag.(*record)
			if r.accepted = err == nil; r.accepted {
				r.added = 1
			}
		}
		return nil
	})
	if err != nil && !errors.Is(err, bufferedsender.ErrClosed) && !errors.Is(err, context.DeadlineExceeded) {
		s.fail("HoldKeys returned %v", err)
	}
}

// behind records that actions are behind a hold: if withdrawn they end when it is released.
func (s *schedule) behind(actions []models.IndexDocumentsAction[modelDoc]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range actions {
		a.Tag.(*record).behind = true
	}
}

// takesBack reports whether withdraw takes back actions of the key.
func takesBack(key string) bool { return len(key) > 0 && key[len(key)-1]%2 == 0 }

// withdraw takes back the actions of every second key, and records them to check that they are not sent later.
func (s *schedule) withdraw() {
	s.mu.Lock()
	before := map[*record]bool{}
	for _, r := range s.records {
		if r.accepted && len(r.ended) == 0 && takesBack(r.key) {
			before[r] = true
		}
	}
	s.mu.Unlock()
	s.sender.Withdraw(func(key string, _ any) bool { return takesBack(key) })
	s.mu.Lock()
	defer s.mu.Unlock()
	for r := range before {
		// A Close that gives up, or a hook that ends its goroutine, may come first.
		if len(r.ended) == 0 && !r.behind && !s.closing && s.misbehaving == 0 {
			s.errorf("action %d of key %s was withdrawn and has not ended", r.id, r.key)
		}
		r.banned = r.sent
		r.withdrawn = true
	}
}

// outcome is the callback of an action.
func (s *schedule) outcome(r *record, o models.Outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.called++
	if len(r.ended) != 1 || (r.ended[0] == "completed") != o.Completed() || o.Unknown != r.unknown || o.Key != r.key || o.Tag != any(r) {
		s.errorf("action %d of key %s has ended %v (unknown %t); its callback is given %+v", r.id, r.key, r.ended, r.unknown, o)
	}
}

func (s *schedule) flush(ctx context.Context) {
	s.mu.Lock()
	before := slices.Clone(s.records)
	before = slices.DeleteFunc(before, func(r *record) bool { return !r.accepted })
	s.mu.Unlock()
	err := s.sender.Flush(ctx, nil)
	var failed *bufferedsender.FlushError
	var closed *bufferedsender.CloseError
	switch {
	case errors.As(err, &failed):
	case err == nil, errors.As(err, &closed):
	case errors.Is(err, context.DeadlineExceeded):
		return
	default:
		s.fail("Flush returned %v", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if failed != nil {
		s.reported += failed.Count
		s.unsentSeen += failed.Unsent
	}
	for _, r := range before {
		if len(r.ended) == 0 {
			s.errorf("Flush returned (%v) before action %d of key %s was settled", err, r.id, r.key)
		}
	}
}
