package compare

import (
	"context"
	"os/exec"
	"time"

	"github.com/go-azsearch/azsearch/bench/internal/child"
)

// processes starts each contestant in its own process.
type processes struct {
	javaScript *javaScriptRunner
	timeout    time.Duration // of one task
}

// run runs a task against a new sink, whose address it adds to the task.
func (p *processes) run(ctx context.Context, c contestant, t task, sinkFlags ...string) (*outcome, error) {
	o := &outcome{Documents: t.Documents}
	var err error
	o.Sink, err = child.AgainstSink(ctx, p.timeout, func(ctx context.Context, address string) (*exec.Cmd, error) {
		t.Contestant, t.Endpoint = c.name, address
		if c.family == javaScript {
			return p.javaScript.command(ctx, t)
		}
		return child.Task(ctx, "compare", "task", t)
	}, &o.measurement, sinkFlags...)
	if err != nil {
		return nil, err
	}
	return o, nil
}
