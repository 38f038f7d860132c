package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/exit"
	"github.com/go-azsearch/azsearch/internal/sleep"
	"github.com/go-azsearch/azsearch/search"
)

// errTaken stops a rebuild because another one has claimed its alias.
var errTaken = exit.With(exit.Incomplete, errors.New("stopped, because the alias was changed meanwhile: perhaps another apply has begun, and continues"))

// claim writes the alias as it is, under the ETag that the plan saw. Of two applies that have planned the same the
// second one fails here, before it writes anything. An apply that plans while another one is at work looks like
// one that follows a kill: it gets the alias, and the other one stops at its next check, within a second. That is
// sooner than the first write of the one that follows, which waits for lateRequests.
func (b *rebuilding) claim(ctx context.Context) error {
	alias, err := b.service.GetAlias(ctx, b.Alias, nil)
	if err != nil {
		return err
	}
	if b.AliasETag != "" { // else the alias was created by this apply
		alias.ETag = b.AliasETag
	}
	alias.Indexes = []string{b.From}
	claimed, err := b.service.CreateOrUpdateAlias(ctx, alias, nil)
	if errors.Is(err, search.ErrPreconditionFailed) {
		return failed(fmt.Errorf("alias %q was changed after the plan was made, perhaps by another apply: run it again when that has ended", b.Alias))
	}
	b.claimed = claimed.ETag
	return err
}

// mine returns errTaken if the alias is no longer as it was claimed.
func (b *rebuilding) mine(ctx context.Context) error {
	alias, err := b.service.GetAlias(ctx, b.Alias, nil)
	if err == nil && alias.ETag != b.claimed {
		return errTaken
	}
	return err
}

// guard stops the rebuild when the alias is taken. It ends with ctx, and when the alias may have moved.
func (b *rebuilding) guard(ctx context.Context, stop context.CancelCauseFunc) {
	for sleep.For(ctx, time.Second) == nil {
		err := b.mine(ctx) // Run reports that the service does not answer
		if b.store.moved.Load() {
			return
		}
		if errors.Is(err, errTaken) {
			stop(err)
		}
	}
}
