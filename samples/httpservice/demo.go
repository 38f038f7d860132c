package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/samples/internal/stage"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

const (
	callers   = 200
	indexName = "notes"
)

// outage returns faults: status 503, hanging requests, and cut connections, some of them after the documents were
// indexed.
func outage() []searchtest.Fault {
	return []searchtest.Fault{
		{Every: 4, Cut: searchtest.CutAfterCommit},
		{Every: 4, Delay: searchtest.Duration(5 * time.Second)},
		{Every: 2, Cut: searchtest.CutBeforeCommit},
		{Status: http.StatusServiceUnavailable},
	}
}

// slow returns a fault that delays every request, so that the buffer fills.
func slow() []searchtest.Fault {
	return []searchtest.Fault{{Delay: searchtest.Duration(250 * time.Millisecond)}}
}

// demonstrate lets 200 callers write while the search service is healthy, slow, down and back. It stops the service
// in mid-traffic and compares the replies with the index.
func demonstrate(ctx context.Context, logger *slog.Logger, stdout io.Writer) error {
	backend := stage.Emulate(&searchtest.Options{Latency: 5 * time.Millisecond})
	defer backend.Close()
	client, err := stage.Open[Note](ctx, backend, indexName)
	if err != nil {
		return err
	}
	// Short durations, for a short demonstration.
	s, err := newService(client, settings{deadline: time.Second, requestTimeout: 400 * time.Millisecond, buffer: 200}, logger)
	if err != nil {
		return err
	}
	if err := s.listen("127.0.0.1:0"); err != nil {
		return errors.Join(err, s.stop())
	}
	fmt.Fprintf(stdout, "%d callers of %s/notes write to %s.\n", callers, s.url, backend.Name)
	reported := newLedger()
	calling, stopCalling := context.WithCancel(ctx)
	defer stopCalling()
	var all sync.WaitGroup
	transport := &http.Transport{MaxIdleConnsPerHost: callers}
	for i := range callers {
		c := &caller{client: &http.Client{Transport: transport}, url: s.url, reported: reported, name: fmt.Sprintf("%d-%d", time.Now().UnixMilli(), i)}
		all.Go(func() { c.write(calling) })
	}
	err = happen(ctx, s, backend, stdout)

	// Callers are still sending: some get a reply, some find the server closed.
	err = errors.Join(err, s.stop())
	stopCalling()
	all.Wait()
	transport.CloseIdleConnections()
	if err != nil {
		return err
	}
	return reported.compare(backend, stdout)
}

// happen injects the faults.
func happen(ctx context.Context, s *service, backend *stage.Service, w io.Writer) error {
	for _, step := range []struct {
		title  string
		faults []searchtest.Fault
		ready  int // expected status of /healthz
		least  time.Duration
	}{
		{"all is well", nil, http.StatusOK, time.Second},
		{"the search service is slow", slow(), http.StatusOK, time.Second},
		{"the search service is out of order", outage(), http.StatusServiceUnavailable, 2 * time.Second},
		{"it is back", nil, http.StatusOK, 1500 * time.Millisecond},
		{"and callers have come back", nil, http.StatusOK, 1500 * time.Millisecond},
	} {
		backend.Faults(step.faults...)
		if !stage.Wait(ctx, step.least) {
			return ctx.Err()
		}
		var status int
		var body string
		err := stage.Until(ctx, 10*time.Second, 20*time.Millisecond, func() (_ bool, err error) {
			resp, err := http.Get(s.url + "/healthz")
			if err != nil {
				return false, err
			}
			defer resp.Body.Close()
			text, err := io.ReadAll(resp.Body)
			status, body = resp.StatusCode, string(text)
			return status == step.ready, err
		})
		condition, _, _ := strings.Cut(strings.TrimSpace(body), ":")
		fmt.Fprintf(w, "%-36s /healthz: %d %s\n", step.title, status, condition)
		if err != nil {
			return err
		}
	}
	return nil
}

// caller is one client. Every note has its own ID, also a repeated one, so that each reply can be checked.
type caller struct {
	client    *http.Client
	url, name string
	reported  *ledger
	sent      int
}

// write sends notes, one request after the other, until ctx ends.
func (c *caller) write(ctx context.Context) {
	for ctx.Err() == nil {
		wait := c.call(ctx, c.notes())
		stage.Wait(ctx, wait+rand.N(40*time.Millisecond+wait/2)) // spread the callers
	}
}

// notes returns one to three notes; one in a hundred is bad.
func (c *caller) notes() []Note {
	notes := make([]Note, 1+rand.IntN(3))
	for i := range notes {
		c.sent++
		notes[i] = Note{ID: fmt.Sprintf("%s-%d", c.name, c.sent), Author: c.name, Text: fmt.Sprintf("note %d of %s", c.sent, c.name)}
		switch rand.IntN(200) {
		case 0: // the service rejects it: a term of a filterable field may not be so long
			notes[i].Author = strings.Repeat("x", 40_000)
		case 1: // the sender refuses it
			notes[i].ID += " is not a legal key"
		}
	}
	return notes
}

// call sends notes, records the reply, and returns its Retry-After.
func (c *caller) call(ctx context.Context, notes []Note) (wait time.Duration) {
	body, err := json.Marshal(notes)
	if err != nil {
		panic(err) // strings
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+"/notes", bytes.NewReader(body))
	if err != nil {
		panic(err) // the URL of our own server
	}
	resp, err := c.client.Do(req)
	if err != nil {
		return 100 * time.Millisecond
	}
	defer resp.Body.Close()
	var a answer
	if err := json.NewDecoder(resp.Body).Decode(&a); err != nil {
		return 0 // the connection broke: no outcome was reported
	}
	c.reported.add(resp.StatusCode, notes, a)
	seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After")) // none is 0
	return time.Duration(seconds) * time.Second
}
