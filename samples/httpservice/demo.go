package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/search/searchtest"
)

const callers = 200

// outage is a service that answers 503, hangs, and cuts connections, some of them
// after it has written what it was sent.
func outage() *searchtest.Faults {
	index := searchtest.OpIndexDocuments
	return &searchtest.Faults{Seed: 1, Rules: []searchtest.Fault{
		{Operation: index, Every: 4, Cut: searchtest.CutAfterCommit},
		{Operation: index, Every: 4, Delay: searchtest.Duration(5 * time.Second)},
		{Operation: index, Every: 2, Cut: searchtest.CutBeforeCommit},
		{Operation: index, Status: http.StatusServiceUnavailable},
	}}
}

// slow is a service that takes its time, so that the buffer fills.
func slow() *searchtest.Faults {
	return &searchtest.Faults{Rules: []searchtest.Fault{
		{Operation: searchtest.OpIndexDocuments, Delay: searchtest.Duration(250 * time.Millisecond)},
	}}
}

// demonstrate has 200 callers write through a search service that works, is slow,
// breaks down and comes back, stops in the middle of it, and compares what the
// callers were given with what the index has.
func demonstrate(ctx context.Context, cfg config, logger *slog.Logger, stdout io.Writer) error {
	backend, err := connect(ctx, cfg)
	if err != nil {
		return err
	}
	defer backend.close()
	// Shorter times than a service would have, so that the story is short.
	s, err := newService(backend.client, settings{deadline: time.Second, requestTimeout: 400 * time.Millisecond, buffer: 200}, logger)
	if err != nil {
		return err
	}
	if err := s.listen("127.0.0.1:0"); err != nil {
		return errors.Join(err, s.stop())
	}
	fmt.Fprintf(stdout, "%d callers of %s/notes write to %s.\n", callers, s.url, backend.name)

	story := &story{service: s, backend: backend, w: stdout}
	var reported ledger
	calling, stopCalling := context.WithCancel(ctx)
	defer stopCalling()
	var all sync.WaitGroup
	transport := &http.Transport{MaxIdleConnsPerHost: callers}
	client := &http.Client{Transport: transport}
	for i := range callers {
		c := &caller{client: client, url: s.url, reported: &reported, name: fmt.Sprintf("%d-%d", time.Now().UnixMilli(), i)}
		all.Go(func() { c.write(calling) })
	}
	err = story.tell(ctx)
	metricsErr := story.metrics(ctx)

	// The callers are still at work: some will be answered, some will find nobody.
	err = errors.Join(err, metricsErr, s.stop())
	stopCalling()
	all.Wait()
	transport.CloseIdleConnections()
	if ctx.Err() != nil {
		return errors.Join(err, errors.New("interrupted: nothing was compared"))
	}
	fmt.Fprintln(stdout, "The service has stopped. What was reported to callers:")
	reported.print(stdout)
	return errors.Join(err, reported.compare(ctx, backend, stdout), reported.complete(backend.emulator != nil))
}

// story is what happens to the search service.
type story struct {
	service *service
	backend *backend
	w       io.Writer
}

func (s *story) tell(ctx context.Context) error {
	steps := []struct {
		title  string
		faults *searchtest.Faults
		ready  int // what /healthz answers in the end
		least  time.Duration
	}{
		{"all is well", nil, http.StatusOK, time.Second},
		{"the search service is slow", slow(), http.StatusOK, time.Second},
		{"the search service is out of order", outage(), http.StatusServiceUnavailable, 2 * time.Second},
		{"it is back", nil, http.StatusOK, 1500 * time.Millisecond},
	}
	for _, step := range steps {
		if s.backend.emulator != nil {
			s.backend.emulator.SetFaults(step.faults)
		} else if step.faults != nil {
			continue // a real service does not break down when it is asked to
		}
		if err := pause(ctx, step.least); err != nil {
			return err
		}
		if err := s.await(ctx, step.ready, step.title); err != nil {
			return err
		}
		if step.title == "it is back" { // callers have been asked to come back later: they do
			if err := pause(ctx, step.least); err != nil {
				return err
			}
		}
	}
	return nil
}

// await asks for the readiness until it is what it should be.
func (s *story) await(ctx context.Context, want int, title string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for {
		status, body, err := get(ctx, s.service.url+"/healthz")
		if err != nil {
			return err
		}
		if status == want {
			condition, _, _ := strings.Cut(strings.TrimSpace(body), ":")
			fmt.Fprintf(s.w, "%-36s /healthz: %d %s\n", title, status, condition)
			return nil
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return fmt.Errorf("%s: /healthz says %d %s", title, status, body)
		}
	}
}

// metrics checks that /metrics has the numbers of the sender.
func (s *story) metrics(ctx context.Context) error {
	before := s.service.sender.Stats().Accepted
	_, page, err := get(ctx, s.service.url+"/metrics")
	if err != nil {
		return err
	}
	after := s.service.sender.Stats().Accepted
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "azsearch_sender_items_added") {
			n, err := strconv.ParseFloat(strings.TrimSpace(line[strings.LastIndexByte(line, ' '):]), 64)
			if err != nil || int64(n) < before || int64(n) > after {
				return fmt.Errorf("/metrics says %q, the sender has accepted %d", line, after)
			}
			return nil
		}
	}
	return errors.New("/metrics does not say how many notes the sender has accepted")
}

func get(ctx context.Context, url string) (status int, body string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, "", err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(content), err
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
