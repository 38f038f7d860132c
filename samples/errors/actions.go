package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// actionStories are about documents that were accepted and then refused by the
// service. ActionFailed tells of each, once; so does the next Flush or Close.
var actionStories = []story{
	{
		title:   "A document that the service refuses (400)",
		explain: "It fails at once: the same document would be refused again. The others of its batch are in the index.",
		tell:    failing(&searchtest.Options{}, refusing(400), models.UploadAction(Hotel{ID: "1"})),
	},
	{
		title:   "A merge into a document that does not exist (404)",
		explain: "It fails at once. Use MergeOrUploadDocuments if the document may be missing.",
		tell:    failing(&searchtest.Options{}, nil, models.MergeAction(Hotel{ID: "nobody", Name: "Fancy Stay"})),
	},
	{
		title:   "A version conflict that does not end (409)",
		explain: "It is retried, the other keys meanwhile go on, and fails when the attempts are used up: Options.Retry.MaxRetries + 1. 422 and 503 look the same.",
		tell:    failing(&searchtest.Options{}, refusing(409), models.UploadAction(Hotel{ID: "1"})),
	},
	{
		title:   "An index that is full (429 for a document)",
		explain: "The quota of documents, not throttling: retrying would not help, so it fails at once. A 429 for a whole request is throttling, and is retried.",
		tell:    failing(&searchtest.Options{DocumentQuota: 1}, nil, models.UploadAction(Hotel{ID: "1"}), models.UploadAction(Hotel{ID: "2"})),
	},
	{
		title:   "An answer that says nothing about a document",
		explain: "It is retried and then fails, and may have been applied: reading the document tells.",
		tell: failing(&searchtest.Options{}, &searchtest.Faults{Rules: []searchtest.Fault{{
			Operation: searchtest.OpIndexDocuments, Results: searchtest.ResultsMissing,
		}}}, models.UploadAction(Hotel{ID: "1"})),
	},
	{
		title:   "Connections that break",
		explain: "Retried, then failed. Unknown says that a request got away before its connection broke, so the document may be in the index.",
		tell: failing(&searchtest.Options{}, &searchtest.Faults{Rules: []searchtest.Fault{{
			Operation: searchtest.OpIndexDocuments, Cut: searchtest.CutAfterCommit,
		}}}, models.UploadAction(Hotel{ID: "1"})),
	},
}

// failing sends actions to a service with faults and shows what ActionFailed is
// reported.
func failing(opts *searchtest.Options, faults *searchtest.Faults, actions ...models.IndexDocumentsAction[Hotel]) func(context.Context, *page) error {
	return func(ctx context.Context, p *page) error {
		srv, client, err := newService(ctx, opts)
		if err != nil {
			return err
		}
		defer srv.Close()
		srv.SetFaults(faults)
		failures := 0
		sender, err := newSender(client, bufferedsender.Options[Hotel]{Handlers: events.Handlers[Hotel]{
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
		if err := sender.IndexDocuments(ctx, actions...); err != nil {
			return err
		}
		var failed *bufferedsender.CloseError
		if err := closeSoon(ctx, sender); !errors.As(err, &failed) || failed.Failed != 1 || failures != 1 {
			return fmt.Errorf("expected one failure: %d events, %w", failures, err)
		}
		return nil
	}
}

// describe writes everything that is known about a failed action.
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
