package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/retry/breaker"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// endStories are about the calls that wait for everything.
var endStories = []story{
	{
		title:   "Flush after something has failed",
		explain: "A count, and the first hundred in full. Each failure is reported by one Flush or Close only: nil from the next one means that nothing else has failed.",
		tell:    flushing,
	},
	{
		title:   "Flush while the service does not work",
		explain: "The breaker is open: nothing is sent, nothing fails and nothing is lost. Flush waits, and says why when its time is up. When the service is back the sender goes on by itself.",
		tell:    waiting,
	},
	{
		title:   "Close whose time is up",
		explain: "It cancels what is under way and says what is not in the index: Unsent certainly is not, Unknown may be. Send both again.",
		tell:    closing,
	},
}

func flushing(ctx context.Context, p *page) error {
	srv, client, err := newService(ctx, nil)
	if err != nil {
		return err
	}
	defer srv.Close()
	srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{
		Operation: searchtest.OpIndexDocuments,
		Documents: []searchtest.DocumentFault{{Keys: []string{"bad-*"}, Status: 400, Message: "We do not like it."}},
	}}})
	sender, err := newSender(client, bufferedsender.Options[Hotel]{})
	if err != nil {
		return err
	}
	if err := sender.UploadDocuments(ctx, Hotel{ID: "1"}, Hotel{ID: "bad-2"}, Hotel{ID: "bad-3"}); err != nil {
		return err
	}
	err = sender.Flush(ctx, nil)
	var failed *bufferedsender.FlushError
	if !errors.As(err, &failed) {
		return fmt.Errorf("not a *FlushError: %w", err)
	}
	p.fact("Flush", "%v", err)
	p.fact("*FlushError.Count", "%d", failed.Count)
	for _, one := range failed.Errors {
		p.fact("  Errors", "%v", one)
	}
	p.fact("Flush again", "%v", sender.Flush(ctx, nil))
	p.fact("Close", "%v", closeSoon(ctx, sender))
	return nil
}

func waiting(ctx context.Context, p *page) error {
	srv, client, err := newService(ctx, nil)
	if err != nil {
		return err
	}
	defer srv.Close()
	srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Operation: searchtest.OpIndexDocuments, Status: http.StatusBadGateway}}})
	b, err := breaker.New(&breaker.Options{Failures: 2, OpenFor: 50 * time.Millisecond, MaxOpenFor: 50 * time.Millisecond}) // the longer the trouble lasts, the longer, if nobody sets it
	if err != nil {
		return err
	}
	sender, err := newSender(client, bufferedsender.Options[Hotel]{Outage: bufferedsender.Hold{Breaker: b}})
	if err != nil {
		return err
	}
	if err := sender.UploadDocuments(ctx, Hotel{ID: "1"}); err != nil {
		return err
	}
	short, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
	defer cancel()
	err = sender.Flush(short, nil)
	var open *breaker.OpenError
	p.fact("errors.Is DeadlineExceeded", "%t", errors.Is(err, context.DeadlineExceeded))
	p.fact("errors.Is ErrCircuitOpen", "%t", errors.Is(err, bufferedsender.ErrCircuitOpen))
	p.fact("errors.As *breaker.OpenError", "%t", errors.As(err, &open))
	p.fact("PendingActionCount", "%d", sender.PendingActionCount())
	srv.SetFaults(nil)
	p.fact("Close, with the service back", "%v", closeSoon(ctx, sender))
	return nil
}

func closing(ctx context.Context, p *page) error {
	srv, client, err := newService(ctx, nil)
	if err != nil {
		return err
	}
	defer srv.Close()
	deadline, expire := context.WithCancel(ctx)
	defer expire()
	// The first batch is answered. The second one hangs until the deadline.
	batches := 0
	srv.Intercept(func(r *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
		if batches++; !strings.HasSuffix(r.URL.Path, "search.index") || batches == 1 {
			return next(r)
		}
		expire()
		<-r.Context().Done()
		return nil, r.Context().Err()
	})
	sender, err := newSender(client, bufferedsender.Options[Hotel]{Limits: bufferedsender.Limits{MaxBatchActions: 2}})
	if err != nil {
		return err
	}
	for i := range 6 {
		if err := sender.UploadDocuments(ctx, Hotel{ID: fmt.Sprint(i + 1)}); err != nil {
			return err
		}
	}
	err = sender.Close(deadline)
	var left *bufferedsender.CloseError
	if !errors.As(err, &left) {
		return fmt.Errorf("not a *CloseError: %w", err)
	}
	p.fact("*CloseError", "Unsent %d, Unknown %d, Failed %d", left.Unsent, left.Unknown, left.Failed)
	for _, one := range left.Errors {
		p.fact("  Errors", "key %s: Attempts %d, Unknown %t, errors.Is ErrClosed %t", one.Key, one.Attempts, one.Unknown, errors.Is(one, bufferedsender.ErrClosed))
	}
	stats := sender.Stats()
	p.fact("Stats", "%d accepted = %d completed + %d failed + %d unsent", stats.Accepted, stats.Completed, stats.Failed, stats.Unsent)
	return nil
}
