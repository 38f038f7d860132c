package child

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"time"

	"github.com/go-azsearch/azsearch/bench/sink/server"
)

// Sink is a sink in another process.
type Sink struct {
	Address string

	process *Process
}

// StartSink starts the command sink. The caller must call Stop.
func StartSink(ctx context.Context, flags ...string) (*Sink, error) {
	command, err := Command(ctx, append([]string{"sink"}, flags...)...)
	if err != nil {
		return nil, err
	}
	process, address, err := StartServer(command)
	if err != nil {
		return nil, err
	}
	return &Sink{Address: address, process: process}, nil
}

// Counts requests the counts of the sink.
func (s *Sink) Counts(ctx context.Context) (server.Counts, error) {
	var c server.Counts
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.Address+server.StatsPath, nil)
	if err != nil {
		return c, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return c, fmt.Errorf("the sink: %w", err)
	}
	defer resp.Body.Close()
	return c, json.NewDecoder(resp.Body).Decode(&c)
}

// Stop ends the sink and waits for it.
func (s *Sink) Stop() error { return s.process.Stop() }

// AgainstSink runs a task against a new sink, with a timeout, and returns the sink's counts. command receives the
// address of the sink.
func AgainstSink(ctx context.Context, timeout time.Duration, command func(ctx context.Context, address string) (*exec.Cmd, error), into any, flags ...string) (c server.Counts, err error) {
	sink, err := StartSink(ctx, flags...)
	if err != nil {
		return c, err
	}
	err = Run(ctx, timeout, func(ctx context.Context) (*exec.Cmd, error) { return command(ctx, sink.Address) }, into)
	if err == nil {
		c, err = sink.Counts(ctx)
	}
	return c, errors.Join(err, sink.Stop())
}
