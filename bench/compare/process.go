package main

import (
	"context"
	"errors"
	"os/exec"
	"time"

	"github.com/go-azsearch/azsearch/bench/internal/child"
)

// processes starts the sinks and the contestants, each in a process of its own.
type processes struct {
	self       string // this program
	sink       string // the program
	javaScript *javaScriptRunner
	timeout    time.Duration // of one task
}

// run carries out a task in a process of its own, against a sink of its own. It
// fills in the endpoint.
func (p *processes) run(ctx context.Context, c contestant, t task, sinkFlags ...string) (*outcome, error) {
	sink, err := child.StartSink(ctx, p.sink, sinkFlags...)
	if err != nil {
		return nil, err
	}
	t.Contestant, t.Endpoint = c.name, sink.Address
	o := &outcome{Documents: t.Documents}
	err = child.Run(ctx, p.timeout, func(ctx context.Context) (*exec.Cmd, error) { return p.command(ctx, c, t) }, &o.measurement)
	if err == nil {
		o.Sink, err = sink.Counts(ctx)
	}
	if err := errors.Join(err, sink.Stop()); err != nil {
		return nil, err
	}
	return o, nil
}

func (p *processes) command(ctx context.Context, c contestant, t task) (*exec.Cmd, error) {
	if c.family == javaScript {
		return p.javaScript.command(ctx, t)
	}
	return child.Task(ctx, p.self, t)
}
