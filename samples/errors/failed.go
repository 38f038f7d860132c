package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry/breaker"
	"github.com/go-azsearch/azsearch/samples/internal/stage"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// failedActions are stories of documents that were accepted and then failed. ActionFailed reports each once; so does
// the next Flush or Close.
var failedActions = []story{
	{
		title:   "A document that the service refuses (400)",
		explain: "It fails at once: the same document would be refused again. The others of its batch are in the index.",
		faults:  []searchtest.Fault{{Documents: []searchtest.DocumentFault{{Status: 400}}}},
		tell:    failing(models.UploadAction(Hotel{ID: "1"})),
	},
	{
		title:   "A merge into a document that does not exist (404)",
		explain: "It fails at once. Use MergeOrUploadDocuments if the document may be missing.",
		tell:    failing(models.MergeAction(Hotel{ID: "nobody", Name: "Fancy Stay"})),
	},
	{
		title:   "A version conflict that does not end (409)",
		explain: "It is retried while other keys continue, and fails after Options.Retry.MaxRetries + 1 attempts. 422 and 503 look the same.",
		faults:  []searchtest.Fault{{Documents: []searchtest.DocumentFault{{Status: 409}}}},
		tell:    failing(models.UploadAction(Hotel{ID: "1"})),
	},
	{
		title:   "An index that is full (429 for a document)",
		explain: "The document quota is reached: retrying cannot help, so it fails at once. A 429 for a whole request is throttling and is retried.",
		service: searchtest.Options{DocumentQuota: 1},
		tell:    failing(models.UploadAction(Hotel{ID: "1"}), models.UploadAction(Hotel{ID: "2"})),
	},
	{
		title:   "A reply without a result for a document",
		explain: "It is retried and then fails. It may have been applied: read the document to find out.",
		faults:  []searchtest.Fault{{Results: searchtest.ResultsMissing}},
		tell:    failing(models.UploadAction(Hotel{ID: "1"})),
	},
	{
		title:   "Connections that break",
		explain: "It is retried and then fails. Unknown means that a request was sent before its connection broke, so the document may be in the index.",
		faults:  []searchtest.Fault{{Cut: searchtest.CutAfterCommit}},
		tell:    failing(models.UploadAction(Hotel{ID: "1"})),
	},
}

// failing sends actions and prints the reported ActionFailed.
func failing(actions ...models.IndexDocumentsAction[Hotel]) func(context.Context, *page) error {
	return func(ctx context.Context, p *page) error {
		failures := 0
		s, err := newSender(p.client, bufferedsender.Options[Hotel]{Handlers: events.Handlers[Hotel]{
			ActionCompleted: func(_ context.Context, e *events.ActionCompleted[Hotel]) {
				p.fact("ActionCompleted", "key %s, status %d", e.Key, e.Result.StatusCode)
			},
			ActionFailed: func(_ context.Context, e *events.ActionFailed[Hotel]) {
				failures++
				describe(p, e.Err)
			},
		}})
		if err != nil {
			return err
		}
		if err := s.IndexDocuments(ctx, actions...); err != nil {
			return err
		}
		var failed *bufferedsender.CloseError
		if err := stage.Close(ctx, s); !errors.As(err, &failed) || failed.Failed != 1 || failures != 1 {
			return fmt.Errorf("expected one failure: %d events, %w", failures, err)
		}
		return nil
	}
}

// describe prints the fields of a failed action.
func describe(p *page, err error) {
	var failed *bufferedsender.ActionError
	if !errors.As(err, &failed) {
		p.fact("ActionFailed", "%v", err)
		return
	}
	p.fact("ActionFailed, *ActionError", "%s of key %s", failed.Type, failed.Key)
	p.fact("  Reason, Rejected", "%s, %t", failed.Reason, failed.Rejected())
	p.fact("  Status, Attempts", "%d, %d", failed.Status, failed.Attempts)
	if failed.Message != "" {
		p.fact("  Message", "%s", failed.Message)
	}
	p.fact("  Exhausted, Unknown", "%t, %t", failed.Exhausted, failed.Unknown)
	if errors.Is(err, bufferedsender.ErrNoResult) {
		p.fact("  errors.Is ErrNoResult", "true")
	}
}

// failedCalls are stories of Flush, Close and requests.
var failedCalls = []story{
	{
		title:   "Flush after something has failed",
		explain: "The error has a count and the first hundred failures. Each failure is reported by one Flush or Close only: nil from the next one means that nothing else has failed.",
		faults:  []searchtest.Fault{{Documents: []searchtest.DocumentFault{{Keys: []string{"bad-*"}, Status: 400, Message: "We do not like it."}}}},
		tell:    flushing,
	},
	{
		title:   "Flush while the service is down",
		explain: "The breaker is open: nothing is sent, nothing fails and nothing is lost. Flush waits, and its error says why. When the service is back, sending resumes automatically.",
		faults:  []searchtest.Fault{{Status: http.StatusBadGateway}},
		tell:    waiting,
	},
	{
		title:   "Close whose time is up",
		explain: "It cancels the requests in flight. Unsent documents are not in the index, Unknown ones may be. Send both again.",
		tell:    closing,
	},
	// Requests that the service refuses as a whole. The error is a *search.Error, whether a sender or a direct call
	// sent the request.
	{
		title:   "A key that is wrong",
		explain: "Without a breaker, as here, every document of the request fails at once. With one, which is the default, nothing fails: everything waits until the key is changed, and Health says why.",
		tell:    refused("hotels", "not-the-key"),
	},
	{
		title:   "A key that may only read",
		explain: "As above; the hint says which one is needed.",
		tell:    refused("hotels", searchtest.QueryKey),
	},
	{
		title:   "An index that does not exist",
		explain: "As above. Documents never create an index.",
		tell:    refused("motels", searchtest.AdminKey),
	},
	{
		title:   "A document that does not exist",
		explain: "GetDocument has another error for an index that does not exist.",
		tell: func(ctx context.Context, p *page) error {
			_, err := search.GetDocument[Hotel](ctx, p.client, "1", nil)
			p.fact("errors.Is ErrDocumentNotFound", "%t", errors.Is(err, search.ErrDocumentNotFound))
			return serviceError(p, err)
		},
	},
	{
		title:   "A one-shot call that fails for some documents",
		explain: "Without a sender single documents are not retried. A reply with status 207 is an error that names each failed document.",
		tell:    oneShot,
	},
}

func flushing(ctx context.Context, p *page) error {
	sender, err := newSender(p.client, bufferedsender.Options[Hotel]{})
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
	p.fact("Close", "%v", stage.Close(ctx, sender))
	return nil
}

func waiting(ctx context.Context, p *page) error {
	b, err := breaker.New(&breaker.Options{Failures: 2, OpenFor: 50 * time.Millisecond, MaxOpenFor: 50 * time.Millisecond}) // MaxOpenFor keeps the open time constant
	if err != nil {
		return err
	}
	sender, err := newSender(p.client, bufferedsender.Options[Hotel]{Outage: bufferedsender.Hold{Breaker: b}})
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
	p.fact("PendingActions", "%d", sender.Stats().PendingActions)
	p.srv.SetFaults(nil)
	p.fact("Close, with the service back", "%v", stage.Close(ctx, sender))
	return nil
}

func closing(ctx context.Context, p *page) error {
	deadline, expire := context.WithCancel(ctx)
	defer expire()
	// The first batch succeeds. The second hangs until the deadline.
	batches := 0
	p.srv.Intercept(func(r *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
		if batches++; !strings.HasSuffix(r.URL.Path, "search.index") || batches == 1 {
			return next(r)
		}
		expire()
		<-r.Context().Done()
		return nil, r.Context().Err()
	})
	sender, err := newSender(p.client, bufferedsender.Options[Hotel]{Limits: bufferedsender.Limits{MaxBatchActions: 2}})
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

// refused sends a document to an index with an API key, through a sender.
func refused(index, key string) func(context.Context, *page) error {
	return func(ctx context.Context, p *page) error {
		client, err := search.NewClientWithKey(p.srv.URL(), index, azcore.NewKeyCredential(key), impatient(p.srv))
		if err != nil {
			return err
		}
		sender, err := newSender(client, bufferedsender.Options[Hotel]{})
		if err != nil {
			return err
		}
		if err := sender.UploadDocuments(ctx, Hotel{ID: "1"}); err != nil {
			return err
		}
		err = stage.Close(ctx, sender)
		var failed *bufferedsender.ActionError
		if !errors.As(err, &failed) {
			return fmt.Errorf("not an *ActionError: %w", err)
		}
		p.fact("*ActionError", "Status %d, Attempts %d", failed.Status, failed.Attempts)
		return serviceError(p, err)
	}
}

// serviceError prints a *search.Error. Its Error method returns the same on one line, with the request ID.
func serviceError(p *page, err error) error {
	var refused *search.Error
	if !errors.As(err, &refused) {
		return fmt.Errorf("not a *search.Error: %w", err)
	}
	var response *azcore.ResponseError
	p.fact("*search.Error", "status %d of %s", refused.StatusCode, refused.Operation)
	if refused.Message != "" {
		p.fact("  Message", "%s", refused.Message)
	}
	p.fact("  Hint", "%s", refused.Hint)
	p.fact("  errors.As *azcore.ResponseError", "%t", errors.As(err, &response))
	return nil
}

func oneShot(ctx context.Context, p *page) error {
	result, err := search.MergeDocuments(ctx, p.client, []Hotel{{ID: "1"}, {ID: "2"}}, nil)
	var partial *search.IndexingError
	if !errors.As(err, &partial) {
		return fmt.Errorf("not an *IndexingError: %w", err)
	}
	p.fact("*search.IndexingError", "%d of %d actions, status of the reply %d", len(partial.Failed), partial.Actions, result.StatusCode)
	for _, one := range partial.Failed {
		p.fact("  Failed", "key %s: %d %s", one.Key, one.StatusCode, one.ErrorMessage)
	}
	return nil
}
