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
)

// addStories are about documents that were not accepted: the adding call says
// so, nothing of them was or will be sent, and no event follows.
var refusedByTheSender = []story{
	{
		title:   "A key that the service does not allow",
		explain: "The adding call refuses it. Those before it are accepted; go on behind it, or make a legal key with keys.Encode.",
		tell: adding(bufferedsender.Options[Hotel]{}, func(ctx context.Context, p *page, sender *sender) error {
			err := sender.UploadDocuments(ctx, Hotel{ID: "1"}, Hotel{ID: "hotels/2"}, Hotel{ID: "3"})
			added, err := addError(p, err)
			if err != nil {
				return err
			}
			var invalid *keys.InvalidKeyError
			if !errors.As(added, &invalid) {
				return added
			}
			p.fact("*keys.InvalidKeyError.Rule", "%s", invalid.Rule)
			p.fact("keys.Encode", "%s", keys.Encode(invalid.Key))
			return nil
		}),
	},
	{
		title:   "A value that JSON cannot hold",
		explain: "Refused by the adding call, with the name of the field.",
		tell: adding(bufferedsender.Options[Hotel]{}, func(ctx context.Context, p *page, sender *sender) error {
			added, err := addError(p, sender.UploadDocuments(ctx, Hotel{ID: "1", Rating: math.NaN()}))
			if err != nil {
				return err
			}
			var encode *models.EncodeError
			if !errors.As(added, &encode) {
				return added
			}
			p.fact("*models.EncodeError.Field", "%s", encode.Field)
			return nil
		}),
	},
	{
		title:   "A document larger than a request may be",
		explain: "Refused by the adding call: no number of retries would get it through. Shorten it, or raise MaxBatchBytes if the service allows it.",
		tell: adding(bufferedsender.Options[Hotel]{Limits: bufferedsender.Limits{MaxBatchBytes: 1000}}, func(ctx context.Context, p *page, sender *sender) error {
			added, err := addError(p, sender.UploadDocuments(ctx, Hotel{ID: "1", Name: strings.Repeat("very ", 200) + "long"}))
			if err != nil {
				return err
			}
			var large *bufferedsender.DocumentTooLargeError
			if !errors.As(added, &large) || !errors.Is(added, bufferedsender.ErrDocumentTooLarge) {
				return added
			}
			p.fact("*DocumentTooLargeError", "Size %d, Limit %d", large.Size, large.Limit)
			return nil
		}),
	},
	{
		title:   "A buffer that is full",
		explain: "UploadDocuments waits for room until its ctx ends; TryIndexDocuments never waits. Flush, try later, or slow the source down.",
		tell: adding(bufferedsender.Options[Hotel]{Limits: bufferedsender.Limits{MaxBufferedActions: 2, MaxBatchActions: 2}, DisableAutoFlush: true}, func(ctx context.Context, p *page, sender *sender) error {
			added, err := addError(p, sender.TryIndexDocuments(
				models.UploadAction(Hotel{ID: "1"}), models.UploadAction(Hotel{ID: "2"}), models.UploadAction(Hotel{ID: "3"})))
			if err != nil {
				return err
			}
			p.fact("errors.Is ErrBufferFull", "%t", errors.Is(added, bufferedsender.ErrBufferFull))
			return nil
		}),
	},
	{
		title:   "A sender that was closed",
		explain: "Whatever comes after Close is not accepted.",
		tell: adding(bufferedsender.Options[Hotel]{}, func(ctx context.Context, p *page, sender *sender) error {
			if err := closeSoon(ctx, sender); err != nil {
				return err
			}
			added, err := addError(p, sender.UploadDocuments(ctx, Hotel{ID: "1"}))
			if err != nil {
				return err
			}
			p.fact("errors.Is ErrClosed", "%t", errors.Is(added, bufferedsender.ErrClosed))
			return nil
		}),
	},
}

// adding tells a story about a healthy service.
func adding(opts bufferedsender.Options[Hotel], tell func(context.Context, *page, *sender) error) func(context.Context, *page) error {
	return func(ctx context.Context, p *page) error {
		s, err := newSender(p.client, opts)
		if err != nil {
			return err
		}
		return errors.Join(tell(ctx, p, s), closeSoon(ctx, s))
	}
}

// addError writes what every refusal says about itself.
func addError(p *page, err error) (*bufferedsender.AddError, error) {
	var added *bufferedsender.AddError
	if !errors.As(err, &added) {
		return nil, fmt.Errorf("not an *AddError: %w", err)
	}
	p.fact("the adding call", "%v", err)
	p.fact("*AddError.Accepted", "%d", added.Accepted)
	return added, nil
}
