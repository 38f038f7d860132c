package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/outbox"
)

// What a worker does.
const (
	roleWrite = "write"
	roleRelay = "relay"
)

// job is that of a worker, which is a process of its own or a goroutine.
type job struct {
	role     string
	at       place
	endpoint string
	verbose  bool
	log      io.Writer
}

// work is the whole of a worker. It reports on out, line by line, and ends when in does, which is also when
// whoever has started it dies.
func (j *job) work(ctx context.Context, in io.Reader, out io.Writer) (err error) {
	s, err := j.at.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.db.Close()) }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, bufio.NewReader(in))
		cancel()
	}()
	if j.role == roleRelay {
		return j.relay(ctx, s, out)
	}
	return j.write(ctx, s, out)
}

// write makes transactions until ctx ends, and reports how each has ended.
func (j *job) write(ctx context.Context, s *store, out io.Writer) error {
	w := newWriter(s)
	if _, err := fmt.Fprintln(out, "ready"); err != nil {
		return err
	}
	for {
		// Each is finished: it is for -kill to break them.
		end, n, err := w.write(context.WithoutCancel(ctx))
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(out, end, n); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

// relay sends until ctx ends, and reports its Stats now and then.
func (j *job) relay(ctx context.Context, s *store, out io.Writer) error {
	logger := slog.New(slog.DiscardHandler)
	if j.verbose {
		logger = slog.New(slog.NewTextHandler(j.log, nil))
	}
	watching, stop := context.WithCancel(context.WithoutCancel(ctx))
	watched := make(chan error, 1)
	started := false
	err := s.sendUntil(ctx, j.endpoint, logger, func(r *outbox.Relay) {
		started = true
		go func() { watched <- watch(watching, r, out) }()
	})
	stop()
	if started {
		err = errors.Join(err, <-watched)
	}
	return err
}

// watch reports that a relay is ready, and what it has done until ctx ends.
func watch(ctx context.Context, r *outbox.Relay, out io.Writer) error {
	ready := false
	for ended := false; !ended; {
		select {
		case <-ctx.Done():
			ended = true
		case <-time.After(50 * time.Millisecond):
		}
		if !ready && r.Ready() == nil {
			ready = true
			if _, err := fmt.Fprintln(out, "ready"); err != nil {
				return err
			}
		}
		stats, err := json.Marshal(r.Stats())
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "stats %s\n", stats); err != nil {
			return err
		}
	}
	return nil
}
