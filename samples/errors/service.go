package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// serviceStories are about requests that the service refuses as a whole. It
// makes no difference to them whether a sender or a call of your own made them:
// the error is a *search.Error.
var serviceStories = []story{
	{
		title:   "A key that is wrong",
		explain: "Without a breaker, as here, every document of the request fails at once. With one, which is the default, nothing fails: everything waits until somebody changes the key, and Health says why.",
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
		explain: "GetDocument tells it from an index that does not exist.",
		tell: func(ctx context.Context, p *page) error {
			srv, client, err := newService(ctx, nil)
			if err != nil {
				return err
			}
			defer srv.Close()
			_, err = search.GetDocument[Hotel](ctx, client, "1", nil)
			p.fact("errors.Is ErrDocumentNotFound", "%t", errors.Is(err, search.ErrDocumentNotFound))
			return serviceError(p, err)
		},
	},
	{
		title:   "A one-shot call of which a part has failed",
		explain: "Without a sender there are no retries of single documents, but no silence either: a reply with status 207 is an error that names each of them.",
		tell:    oneShot,
	},
}

// refused sends a document with a key to an index, by a sender.
func refused(index, key string) func(context.Context, *page) error {
	return func(ctx context.Context, p *page) error {
		srv, _, err := newService(ctx, nil)
		if err != nil {
			return err
		}
		defer srv.Close()
		client, err := search.NewClientWithKey(srv.URL(), index, azcore.NewKeyCredential(key), clientOptions(srv))
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
		err = closeSoon(ctx, sender)
		var failed *bufferedsender.ActionError
		if !errors.As(err, &failed) {
			return fmt.Errorf("not an *ActionError: %w", err)
		}
		p.fact("*ActionError", "Status %d, Attempts %d", failed.Status, failed.Attempts)
		return serviceError(p, err)
	}
}

// serviceError writes what a *search.Error says. Its Error method says it in one
// line, with the id of the request.
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
	srv, client, err := newService(ctx, nil)
	if err != nil {
		return err
	}
	defer srv.Close()
	result, err := search.MergeDocuments(ctx, client, []Hotel{{ID: "1"}, {ID: "2"}}, nil)
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
