package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/models/keys"
	"github.com/go-azsearch/azsearch/samples/internal/stage"
)

// refusedByTheSender are stories of documents that the adding call refuses. They are never sent, and no event
// follows.
var refusedByTheSender = []story{
	{
		title:   "A key that the service does not allow",
		explain: "The adding call refuses it. The documents before it are accepted. Continue after it, or make a legal key with keys.Encode.",
		tell: adding(bufferedsender.Options[Hotel]{}, func(ctx context.Context, sender *sender) error {
			return sender.UploadDocuments(ctx, Hotel{ID: "1"}, Hotel{ID: "hotels/2"}, Hotel{ID: "3"})
		}, func(p *page, err error) bool {
			invalid, ok := errors.AsType[*keys.InvalidKeyError](err)
			if ok {
				p.fact("*keys.InvalidKeyError.Rule", "%s", invalid.Rule)
				p.fact("keys.Encode", "%s", keys.Encode(invalid.Key))
			}
			return ok
		}),
	},
	{
		title:   "A value that JSON cannot hold",
		explain: "Refused by the adding call, with the name of the field.",
		tell: adding(bufferedsender.Options[Hotel]{}, func(ctx context.Context, sender *sender) error {
			return sender.UploadDocuments(ctx, Hotel{ID: "1", Rating: math.NaN()})
		}, func(p *page, err error) bool {
			encode, ok := errors.AsType[*models.EncodeError](err)
			if ok {
				p.fact("*models.EncodeError.Field", "%s", encode.Field)
			}
			return ok
		}),
	},
	{
		title:   "A document larger than a request may be",
		explain: "Refused by the adding call: retries cannot help. Shorten it, or raise MaxBatchBytes if the service allows it.",
		tell: adding(bufferedsender.Options[Hotel]{Limits: bufferedsender.Limits{MaxBatchBytes: 1000}}, func(ctx context.Context, sender *sender) error {
			return sender.UploadDocuments(ctx, Hotel{ID: "1", Name: strings.Repeat("very ", 200) + "long"})
		}, func(p *page, err error) bool {
			large, ok := errors.AsType[*bufferedsender.DocumentTooLargeError](err)
			if ok {
				p.fact("*DocumentTooLargeError", "Size %d, Limit %d", large.Size, large.Limit)
			}
			return ok && errors.Is(err, bufferedsender.ErrDocumentTooLarge)
		}),
	},
	{
		title:   "A buffer that is full",
		explain: "UploadDocuments waits for room until its ctx ends; TryIndexDocuments never waits. Flush, try later, or slow the source down.",
		tell: adding(bufferedsender.Options[Hotel]{Limits: bufferedsender.Limits{MaxBufferedActions: 2, MaxBatchActions: 2}, DisableAutoFlush: true}, func(_ context.Context, sender *sender) error {
			return sender.TryIndexDocuments(models.UploadAction(Hotel{ID: "1"}), models.UploadAction(Hotel{ID: "2"}), models.UploadAction(Hotel{ID: "3"}))
		}, func(p *page, err error) bool {
			p.fact("errors.Is ErrBufferFull", "%t", errors.Is(err, bufferedsender.ErrBufferFull))
			return true
		}),
	},
	{
		title:   "A sender that was closed",
		explain: "After Close every adding call is refused.",
		tell: adding(bufferedsender.Options[Hotel]{}, func(ctx context.Context, sender *sender) error {
			return errors.Join(stage.Close(ctx, sender), sender.UploadDocuments(ctx, Hotel{ID: "1"}))
		}, func(p *page, err error) bool {
			p.fact("errors.Is ErrClosed", "%t", errors.Is(err, bufferedsender.ErrClosed))
			return true
		}),
	},
}

// adding plays a story on a healthy service: add must be refused, and show prints why, if it finds the expected
// error.
func adding(opts bufferedsender.Options[Hotel], add func(context.Context, *sender) error, show func(*page, error) (found bool)) func(context.Context, *page) error {
	return func(ctx context.Context, p *page) error {
		s, err := newSender(p.client, opts)
		if err != nil {
			return err
		}
		err = add(ctx, s)
		added, ok := errors.AsType[*bufferedsender.AddError](err)
		if ok {
			p.fact("the adding call", "%v", err)
			p.fact("*AddError.Accepted", "%d", added.Accepted)
			ok = show(p, err)
		}
		closing := stage.Close(ctx, s)
		if !ok {
			return errors.Join(fmt.Errorf("the adding call was not refused as expected: %w", err), closing)
		}
		return closing
	}
}
