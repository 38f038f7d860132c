package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/outbox"
	"github.com/go-azsearch/azsearch/search"
)

// projection is a relay at work.
type projection struct {
	relay  *outbox.Relay
	sender *bufferedsender.BufferedSender[Hotel]
	cancel context.CancelFunc
	ended  chan error
}

// project starts a relay that sends what the loader reads.
func project(l *loader, from *outbox.Table, client *search.Client, logger *slog.Logger) (*projection, error) {
	sender, err := bufferedsender.New(client, &bufferedsender.Options[Hotel]{AutoFlushInterval: 20 * time.Millisecond, Logger: logger})
	if err != nil {
		return nil, err
	}
	relay, err := outbox.NewRelay(l.db, from, sender.Raw(), &outbox.RelayOptions{
		Loader: outbox.Load(l.load),
		Poll:   20 * time.Millisecond, // so that the story is short
		Logger: logger,
	})
	if err != nil {
		return nil, errors.Join(err, sender.Close(context.Background()))
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &projection{relay, sender, cancel, make(chan error, 1)}
	go func() { p.ended <- relay.Run(ctx) }()
	return p, nil
}

// close ends the relay, and then the sender, which may still have what the relay has handed over.
func (p *projection) close() error {
	p.cancel()
	err := <-p.ended
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	return errors.Join(err, p.sender.Close(ctx))
}
