package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-azsearch/azsearch/bench/internal/child"
	"github.com/go-azsearch/azsearch/bench/sink/server"
)

// processes starts the sinks and the contestants, each in a process of its own.
type processes struct {
	self       string // this program
	sink       string // the program
	javaScript *javaScriptRunner
	timeout    time.Duration // of one task
}

// buildSink builds the sink in a folder. It needs the module of the benchmark as
// the working directory, or a folder of it.
func buildSink(ctx context.Context, folder string) (string, error) {
	name := filepath.Join(folder, "sink.exe") // Windows needs the ending
	out, err := exec.CommandContext(ctx, "go", "build", "-o", name, "github.com/go-azsearch/azsearch/bench/sink").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building the sink, which works in the folder bench only: %w\n%s", err, out)
	}
	return name, nil
}

// runningSink is a sink in another process.
type runningSink struct {
	address string
	process *child.Process
}

func (p *processes) startSink(ctx context.Context, flags ...string) (*runningSink, error) {
	process, err := child.Start(exec.CommandContext(ctx, p.sink, flags...))
	if err != nil {
		return nil, err
	}
	s := &runningSink{process: process}
	line, err := bufio.NewReader(process.Stdout).ReadString('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the sink did not start: %w", err), s.stop())
	}
	s.address = strings.TrimSpace(line)
	return s, nil
}

func (s *runningSink) counts(ctx context.Context) (server.Counts, error) {
	var c server.Counts
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.address+server.StatsPath, nil)
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

func (s *runningSink) stop() error { return s.process.Stop() }

// run carries out a task in a process of its own, against a sink of its own. It
// fills in the endpoint.
func (p *processes) run(ctx context.Context, c contestant, t task, sinkFlags ...string) (*outcome, error) {
	sink, err := p.startSink(ctx, sinkFlags...)
	if err != nil {
		return nil, err
	}
	t.Contestant, t.Endpoint = c.name, sink.address
	o := &outcome{Documents: t.Documents}
	err = p.measure(ctx, c, t, &o.measurement)
	if err == nil {
		o.Sink, err = sink.counts(ctx)
	}
	if err := errors.Join(err, sink.stop()); err != nil {
		return nil, err
	}
	return o, nil
}

// measure runs the process of a contestant. What it writes to its standard error
// is of interest only if it fails.
func (p *processes) measure(ctx context.Context, c contestant, t task, into *measurement) error {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	cmd, err := p.command(ctx, c, t)
	if err != nil {
		return err
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("not done after %v", p.timeout)
		}
		return fmt.Errorf("%w: %s", err, lastLine(stderr.Bytes()))
	}
	return json.Unmarshal(stdout.Bytes(), into)
}

func (p *processes) command(ctx context.Context, c contestant, t task) (*exec.Cmd, error) {
	if c.family == javaScript {
		return p.javaScript.command(ctx, t)
	}
	text, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	return exec.CommandContext(ctx, p.self, taskCommand, string(text)), nil
}

// lastLine returns the last line that is not empty, or a part of it.
func lastLine(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return fmt.Sprintf("%.300s", lines[len(lines)-1])
}
