package main

// This file sends. Look at sendUntil, which is the whole life of a relay: as many of them as you like, in any
// processes, share the keys. Whatever dies, what is in the outbox stays there until it is confirmed.

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/outbox"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// How late the keys of a relay are that was killed: they wait for its lease, which has to outlast a request, a
// margin of five seconds and two renewals. These are the shortest that make sense; a program takes the defaults, with
// which it is a minute and a half, and which forgive a database that is slow.
const (
	requestTimeout = 2 * time.Second
	lease          = 9 * time.Second
	renew          = time.Second
)

// sendUntil runs a relay until ctx ends. It gives its keys away then, so that another one goes on
// at once. watch gets the relay, for its Stats and Ready.
func (s *store) sendUntil(ctx context.Context, endpoint string, logger *slog.Logger, watch func(*outbox.Relay)) (err error) {
	client, err := search.NewClientWithKey(endpoint, indexName, azcore.NewKeyCredential(searchtest.AdminKey), nil)
	if err != nil {
		return err
	}
	sender, err := bufferedsender.New(client, &bufferedsender.Options[Booking]{
		AutoFlushInterval: 20 * time.Millisecond, // how late the index is; larger ones fold more
		RequestTimeout:    requestTimeout,
		UnknownWait:       requestTimeout,
		Logger:            logger,
	})
	if err != nil {
		return err
	}
	defer func() { // after the relay, which waits for what it has handed over
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		defer cancel()
		err = errors.Join(err, sender.Close(closing))
	}()
	relay, err := outbox.NewRelay(s.db, s.outbox, sender.Raw(), &outbox.RelayOptions{
		Lease: lease, Renew: renew,
		Poll:   20 * time.Millisecond,
		Logger: logger,
	})
	if err != nil {
		return err
	}
	watch(relay)
	return relay.Run(ctx)
}
