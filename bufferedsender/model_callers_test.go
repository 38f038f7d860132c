package bufferedsender_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
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

// useOther does with the other sender what is needed to have the breaker opened,
// probed and closed by both.
func (s *schedule) useOther() {
	for i := range 12 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		_, err := s.other.IndexDocumentsAndWait(ctx, models.UploadAction(modelDoc{ID: fmt.Sprint(otherPrefix, i)}))
		cancel()
		if _, there := s.server.Documents("model")[fmt.Sprint(otherPrefix, i)]; err == nil && !there {
			s.fail("document %d of the other sender is not in the index", i)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_ = s.other.Close(ctx) // whether it must fail the numbers say
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
		return
	case "limits":
		s.setLimits(false, st.limits)
		return
	}
	s.add(ctx, st)
}

// add does the steps that add actions.
func (s *schedule) add(ctx context.Context, st step) {
	s.mu.Lock()
	mine := make([]*record, len(st.actions))
	for i, a := range st.actions {
		mine[i] = a.Tag.(*record)
		mine[i].added = 1
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
		})
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
		case errors.Is(err, bufferedsender.ErrBufferFull) && errors.Is(err, bufferedsender.ErrCircuitOpen) && s.options.Overload == bufferedsender.OverloadFail:
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

// addAndWait returns nil or the error of adding, and checks the rest.
func (s *schedule) addAndWait(ctx context.Context, actions []models.IndexDocumentsAction[modelDoc], mine []*record) error {
	results, err := s.sender.IndexDocumentsAndWait(ctx, actions...)
	var incomplete *bufferedsender.WaitError
	if err != nil && !errors.As(err, &incomplete) {
		s.fail("IndexDocumentsAndWait returned %T", err)
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var failed, unsettled int
	for i, result := range results {
		r := mine[i]
		switch {
		case result.Key != r.key:
			s.errorf("result %d is about %q, not %q", i, result.Key, r.key)
		case len(r.ended) == 0 && result.StatusCode == 0 && incomplete != nil:
			unsettled++
		case len(r.ended) == 0:
			s.errorf("a result %+v of an action that is not settled", result)
		case r.ended[0] == "completed" && result.StatusCode == 0 && incomplete != nil:
			unsettled++ // the event came first, and the call ended in between
		case r.ended[0] == "completed":
			if !result.Succeeded && s.options.OnMergeMissing != bufferedsender.MergeMissingIgnore {
				s.errorf("a completed action has the result %+v", result)
			}
		default:
			failed++
		}
	}
	if incomplete == nil {
		if len(results) != len(actions) || failed+unsettled > 0 {
			s.errorf("no error, %d results of %d, %d failed, %d unsettled", len(results), len(actions), failed, unsettled)
		}
		return nil
	}
	// An action may end between the look of the call and the one above.
	if incomplete.Failed > failed || incomplete.Failed != len(incomplete.Errors) || incomplete.Unsettled < unsettled {
		s.errorf("%+v says %d failed and %d are unsettled; %d and %d are", incomplete, incomplete.Failed, incomplete.Unsettled, failed, unsettled)
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

func (s *schedule) flush(ctx context.Context) {
	s.mu.Lock()
	before := slices.Clone(s.records)
	before = slices.DeleteFunc(before, func(r *record) bool { return !r.accepted })
	s.mu.Unlock()
	err := s.sender.Flush(ctx)
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
