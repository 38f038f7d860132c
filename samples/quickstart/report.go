package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/samples/internal/stage"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// report is the outcome of a run, and the JSON object of -json.
//
//archtest:long figures that are printed, each by itself
type report struct {
	Service string `json:"service"`
	Index   string `json:"index"`

	Packages    int `json:"packages"`    // parsed and handed over
	Files       int `json:"files"`       // parsed, or tried to
	BrokenFiles int `json:"brokenFiles"` // that are not Go

	Documents int64 `json:"documents"` // accepted by the sender
	Completed int64 `json:"completed"`
	Failed    int64 `json:"failed"`
	Unsent    int64 `json:"unsent"`   // only after Ctrl-C
	Unknown   int64 `json:"unknown"`  // of the failed and unsent: may be in the index
	Refused   int   `json:"refused"`  // by the sender, before acceptance
	NotAdded  int   `json:"notAdded"` // parsed, but the run ended first
	NotParsed int   `json:"notParsed"`

	Requests           int64   `json:"requests"`
	Bytes              int64   `json:"bytes"` // of all request bodies
	Seconds            float64 `json:"seconds"`
	DocumentsPerSecond float64 `json:"documentsPerSecond"`
	Retries            int64   `json:"retries"` // of documents
	Splits             int64   `json:"splits"`  // of requests
	Pauses             int64   `json:"pauses"`
	PeakMemory         uint64  `json:"peakMemoryBytes"`

	Count    int64 `json:"count"` // according to the service; -1 if it was not asked
	LookedUp int   `json:"lookedUp"`

	RequestFaults  map[string]int `json:"requestFaults"`
	DocumentFaults map[string]int `json:"documentFaults"`

	Interrupted bool     `json:"interrupted"`
	Problems    []string `json:"problems"`
	OK          bool     `json:"ok"`

	maybeSent int64 // of the unsent: of unknown outcome
	failures  []error
	broken    []error
	refused   []error
}

func (r *report) problem(format string, args ...any) {
	r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
}

// account takes over what the sender says, and compares it with what its
// handlers were given and with what its callers were.
func (r *report) account(stats bufferedsender.Stats, reported *outcomes, accepted int64) {
	r.Documents, r.Completed, r.Failed, r.Unsent = stats.Accepted, stats.Completed, stats.Failed, stats.Unsent
	r.Requests, r.Bytes, r.Retries, r.Splits, r.Pauses = stats.Requests, stats.BytesSent, stats.Retries, stats.Splits, stats.Pauses
	r.Unknown, r.maybeSent, r.failures = reported.unknown, reported.maybeSent, reported.failures
	if stats.Accepted != stats.Completed+stats.Failed+stats.Unsent {
		r.problem("%d documents were accepted, but %d completed + %d failed + %d unsent", stats.Accepted, stats.Completed, stats.Failed, stats.Unsent)
	}
	if stats.Accepted != accepted {
		r.problem("the sender has accepted %d documents, its callers know of %d", stats.Accepted, accepted)
	}
	if reported.completed != stats.Completed || reported.failed != stats.Failed || reported.unsent != stats.Unsent {
		r.problem("the sender counts %d completed, %d failed, %d unsent; its events %d, %d, %d",
			stats.Completed, stats.Failed, stats.Unsent, reported.completed, reported.failed, reported.unsent)
	}
	if r.Seconds > 0 {
		r.DocumentsPerSecond = float64(r.Completed) / r.Seconds
	}
	// The runtime gives back the contents of memory but not the addresses, so this is a peak.
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	r.PeakMemory = memory.Sys
	if stats.CallbackPanics > 0 {
		r.problem("%d panics in handlers", stats.CallbackPanics)
	}
}

// parsed takes over what the loader has seen.
func (r *report) parsed(l *loader) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r.Packages, r.Files, r.BrokenFiles, r.broken = l.packages, l.files, len(l.broken), l.broken
	r.Refused, r.refused, r.NotAdded = len(l.refused), l.refused, l.notAdded
	r.NotParsed = len(l.tree.Packages) - l.packages
	if l.err != nil {
		r.problem("%v", l.err)
	}
}

// print writes the report, as JSON on the last line as well if it is asked for.
func (r *report) print(w io.Writer, asJSON bool) error {
	line := func(label, format string, args ...any) {
		fmt.Fprintf(w, "%-12s %s\n", label, fmt.Sprintf(format, args...))
	}
	n := humanize.Comma
	leftOver := ""
	if r.Unsent > 0 {
		leftOver = fmt.Sprintf(" + %s unsent", n(r.Unsent))
	}
	line("source", "%s packages, %s files, %d of which do not parse", n(int64(r.Packages)), n(int64(r.Files)), r.BrokenFiles)
	line("documents", "%s accepted = %s completed + %s failed%s", n(r.Documents), n(r.Completed), n(r.Failed), leftOver)
	line("requests", "%s", n(r.Requests))
	line("bytes", "%s (%s)", n(r.Bytes), humanize.Bytes(uint64(r.Bytes)))
	line("documents/s", "%s, in %.1f s", n(int64(r.DocumentsPerSecond)), r.Seconds)
	line("retries", "%s", n(r.Retries))
	line("splits", "%s", n(r.Splits))
	line("failures", "%s", n(r.Failed+int64(r.Refused)))
	line("peak memory", "%s", humanize.IBytes(r.PeakMemory))
	if r.Count >= 0 {
		line("in the index", "%s, counted by the service; %d looked up by key", n(r.Count), r.LookedUp)
	}
	r.printSurvived(w)
	for _, some := range []struct {
		label string
		errs  []error
	}{{"not parsed", r.broken}, {"refused", r.refused}, {"failed", r.failures}} {
		for _, err := range some.errs[:min(len(some.errs), shownFailures)] {
			line(some.label, "%v", err)
		}
	}
	if r.Interrupted {
		line("interrupted", "%s documents accepted and certainly not sent, %s of unknown outcome, %s parsed and not accepted, %s packages not finished",
			n(r.Unsent-r.maybeSent), n(r.maybeSent), n(int64(r.NotAdded)), n(int64(r.NotParsed)))
	}
	for _, problem := range r.Problems {
		line("PROBLEM", "%s", problem)
	}
	if !asJSON {
		return nil
	}
	return json.NewEncoder(w).Encode(r)
}

func (r *report) printSurvived(w io.Writer) {
	if len(r.RequestFaults)+len(r.DocumentFaults) == 0 {
		return
	}
	fmt.Fprintln(w, "survived")
	for _, kind := range slices.Sorted(maps.Keys(r.RequestFaults)) {
		fmt.Fprintf(w, "  %8s requests: %s\n", humanize.Comma(int64(r.RequestFaults[kind])), kind)
	}
	for _, status := range slices.Sorted(maps.Keys(r.DocumentFaults)) {
		fmt.Fprintf(w, "  %8s documents refused in a reply to others: %s\n", humanize.Comma(int64(r.DocumentFaults[status])), status)
	}
}

// verify asks the service whether it has what the sender says it has. It counts with a delay, so it is asked until it
// shows enough, or patience ends.
func (r *report) verify(ctx context.Context, client *search.Client, before int64, patience time.Duration, samples []Document) {
	// A document that failed although a request with it was cut off may be there.
	least, most := r.Completed, r.Completed+r.Unknown
	err := stage.Until(ctx, patience, time.Second, func() (bool, error) {
		var err error
		r.Count, err = client.DocumentCount(ctx, nil)
		return least <= r.Count && r.Count <= most, err
	})
	if errors.Is(err, stage.ErrPatience) {
		r.problem("the service counts %d documents, %d were completed", r.Count, r.Completed)
		if before > 0 {
			r.problem("the index held %d documents before: choose another one with -index", before)
		}
	} else if err != nil {
		r.problem("counting the documents: %v", err)
	}
	r.LookedUp = len(samples)
	for _, want := range samples {
		got, err := search.GetDocument[Document](ctx, client, want.Key, nil)
		switch {
		case err != nil:
			r.problem("looking up %s %s: %v", want.Package, want.Name, err)
		case got != want:
			r.problem("%s %s differs: the source says %+v, the service says %+v", want.Package, want.Name, want, got)
		}
	}
}

// survived counts what went wrong on the way, by what the client saw of it. It
// says the same about a real service.
type survived struct {
	mu        sync.Mutex     // guards the maps: requests overlap
	requests  map[string]int // that failed as a whole, by kind
	documents map[string]int // that were refused in a reply to others, by status
}

func newSurvived() *survived {
	return &survived{requests: map[string]int{}, documents: map[string]int{}}
}

const connectionBroken = "connection broken"

// batch is a BatchCompleted handler.
func (s *survived) batch(_ context.Context, b *events.Batch) {
	if b.Err == nil {
		return
	}
	kind := fmt.Sprint(b.StatusCode)
	switch {
	case errors.Is(b.Err, models.ErrMalformedReply):
		kind = "malformed reply"
	case errors.Is(b.Err, context.DeadlineExceeded):
		kind = "no reply in time"
	case b.StatusCode == 0:
		kind = connectionBroken
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests[kind]++
}

// through returns an Indexer that counts the refused documents in the replies to
// client. Events tell what finally became of a document; this is about what
// happened to it before.
func (s *survived) through(client *search.Client) *listening { return &listening{client, s} }

type listening struct {
	*search.Client
	to *survived
}

// IndexDocumentsRaw is that of the client.
func (l *listening) IndexDocumentsRaw(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
	result, err := l.Client.IndexDocumentsRaw(ctx, body)
	if err != nil || result.StatusCode == 200 {
		return result, err
	}
	l.to.mu.Lock()
	defer l.to.mu.Unlock()
	for i := range result.Results {
		if r := &result.Results[i]; !r.Succeeded {
			l.to.documents[fmt.Sprint(r.StatusCode)]++
		}
	}
	return result, err
}

// emulatorSaw says what only the other end knows: whether a batch whose answer
// was lost had been carried out.
func (s *survived) emulatorSaw(records []searchtest.RequestRecord) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.requests, connectionBroken)
	for i := range records {
		rec := &records[i]
		switch {
		case !rec.Fault || rec.Operation != searchtest.OpIndexDocuments:
		case rec.Err != nil && rec.Actions > 0: // it got as far as reading the batch
			s.requests[connectionBroken+" after the batch was applied"]++
		case rec.Err != nil:
			s.requests[connectionBroken+" before the batch was applied"]++
		case rec.Duration >= slowReply:
			s.requests["slow reply"]++
		}
	}
}
