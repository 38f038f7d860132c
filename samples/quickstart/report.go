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
	"time"

	"github.com/dustin/go-humanize"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/samples/internal/stage"
	"github.com/go-azsearch/azsearch/search"
)

// report is the outcome of a run, and the JSON object of -json.
type report struct {
	Service string `json:"service"`
	Index   string `json:"index"`

	Packages    int `json:"packages"`    // folders whose declarations were added
	Files       int `json:"files"`       // including files that do not parse
	BrokenFiles int `json:"brokenFiles"` // do not parse

	Documents int64 `json:"documents"` // accepted by the sender
	Completed int64 `json:"completed"`
	Failed    int64 `json:"failed"`
	Unsent    int64 `json:"unsent"`  // only after Ctrl-C
	Unknown   int64 `json:"unknown"` // of failed and unsent: may be in the index anyway
	Refused   int   `json:"refused"` // by the sender, before acceptance

	Requests           int64          `json:"requests"`
	Bytes              int64          `json:"bytes"` // of all request bodies
	Seconds            float64        `json:"seconds"`
	DocumentsPerSecond float64        `json:"documentsPerSecond"`
	Retries            int64          `json:"retries"` // of documents
	Splits             int64          `json:"splits"`  // of requests
	PeakMemory         uint64         `json:"peakMemoryBytes"`
	Survived           map[string]int `json:"survived"`

	Count    int64    `json:"count"` // according to the service; -1: not asked
	LookedUp int      `json:"lookedUp"`
	Problems []string `json:"problems"`
	OK       bool     `json:"ok"`

	examples []error // errors of files and documents that are not in the index
}

func (r *report) problem(format string, args ...any) {
	r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
}

// account copies the sender's counts and compares them with the counts of handlers and adding calls.
func (r *report) account(l *loader, stats bufferedsender.Stats) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r.Packages, r.Files, r.BrokenFiles, r.Refused = l.packages, l.files, len(l.broken), len(l.refused)
	r.Documents, r.Completed, r.Failed, r.Unsent, r.Unknown = stats.Accepted, stats.Completed, stats.Failed, stats.Unsent, l.unknown
	r.Requests, r.Bytes, r.Retries, r.Splits, r.Survived = stats.Requests, stats.BytesSent, stats.Retries, stats.Splits, l.survived
	for _, errs := range [][]error{l.broken, l.refused, l.failures} {
		r.examples = append(r.examples, errs[:min(len(errs), shownFailures)]...)
	}
	if l.err != nil {
		r.problem("%v", l.err)
	}
	if stats.Accepted != stats.Completed+stats.Failed+stats.Unsent {
		r.problem("%d documents were accepted, but %d completed + %d failed + %d unsent", stats.Accepted, stats.Completed, stats.Failed, stats.Unsent)
	}
	if stats.Accepted != l.accepted {
		r.problem("the sender has accepted %d documents, its callers know of %d", stats.Accepted, l.accepted)
	}
	if l.completed != stats.Completed || l.failed != stats.Failed || l.unsent != stats.Unsent {
		r.problem("the sender counts %d completed, %d failed, %d unsent; its events %d, %d, %d",
			stats.Completed, stats.Failed, stats.Unsent, l.completed, l.failed, l.unsent)
	}
	if stats.CallbackPanics > 0 {
		r.problem("%d panics in handlers", stats.CallbackPanics)
	}
	r.DocumentsPerSecond = float64(r.Completed) / r.Seconds
	// Sys counts reserved address space, which the runtime never returns, so it is the peak.
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	r.PeakMemory = memory.Sys
}

// print writes the report, and with -json also one JSON object on the last line.
func (r *report) print(w io.Writer, asJSON bool) error {
	line := func(label, format string, args ...any) {
		fmt.Fprintf(w, "%-12s %s\n", label, fmt.Sprintf(format, args...))
	}
	n := humanize.Comma
	line("source", "%s packages, %s files (%d do not parse)", n(int64(r.Packages)), n(int64(r.Files)), r.BrokenFiles)
	line("documents", "%s accepted = %s completed + %s failed + %s unsent; %d refused", n(r.Documents), n(r.Completed), n(r.Failed), n(r.Unsent), r.Refused)
	line("requests", "%s of %s in all; %s documents sent again, %s requests split", n(r.Requests), humanize.Bytes(uint64(r.Bytes)), n(r.Retries), n(r.Splits))
	line("documents/s", "%s, in %.1f s", n(int64(r.DocumentsPerSecond)), r.Seconds)
	line("peak memory", "%s", humanize.IBytes(r.PeakMemory))
	if r.Count >= 0 {
		line("in the index", "%s, counted by the service; %d looked up by key", n(r.Count), r.LookedUp)
	}
	for _, kind := range slices.Sorted(maps.Keys(r.Survived)) {
		line("survived", "%s %s", n(int64(r.Survived[kind])), kind)
	}
	for _, err := range r.examples {
		line("not there", "%v", err)
	}
	for _, problem := range r.Problems {
		line("PROBLEM", "%s", problem)
	}
	if !asJSON {
		return nil
	}
	return json.NewEncoder(w).Encode(r)
}

// verify compares the document count and a few documents with what the sender reported. A real service counts with a
// delay, so verify repeats the count until it matches or patience ends.
func (r *report) verify(ctx context.Context, client *search.Client, before int64, patience time.Duration, samples []Document) {
	// A failed document may be in the index if its request was cut off.
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
