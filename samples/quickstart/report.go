package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/dustin/go-humanize"

	"github.com/go-azsearch/azsearch/bufferedsender"
)

// report is the outcome of a run, and the JSON object of -json.
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
	PeakMemory         int64   `json:"peakMemoryBytes"`

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

func (r *report) print(w io.Writer) {
	line := func(label, format string, args ...any) {
		fmt.Fprintf(w, "%-12s %s\n", label, fmt.Sprintf(format, args...))
	}
	n := humanize.Comma
	line("source", "%s packages, %s files, %d of which do not parse", n(int64(r.Packages)), n(int64(r.Files)), r.BrokenFiles)
	line("documents", "%s accepted = %s completed + %s failed%s", n(r.Documents), n(r.Completed), n(r.Failed), r.leftOver())
	line("requests", "%s", n(r.Requests))
	line("bytes", "%s (%s)", n(r.Bytes), humanize.Bytes(uint64(r.Bytes)))
	line("documents/s", "%s, in %.1f s", n(int64(r.DocumentsPerSecond)), r.Seconds)
	line("retries", "%s", n(r.Retries))
	line("splits", "%s", n(r.Splits))
	line("failures", "%s", n(r.Failed+int64(r.Refused)))
	line("peak memory", "%s", humanize.IBytes(uint64(r.PeakMemory)))
	if r.Count >= 0 {
		line("in the index", "%s, counted by the service; %d looked up by key", n(r.Count), r.LookedUp)
	}
	r.printSurvived(w)
	for _, err := range r.broken[:min(len(r.broken), shownFailures)] {
		line("not parsed", "%v", err)
	}
	for _, err := range r.refused[:min(len(r.refused), shownFailures)] {
		line("refused", "%v", err)
	}
	for _, err := range r.failures {
		line("failed", "%v", err)
	}
	if r.Interrupted {
		line("interrupted", "%s documents accepted and certainly not sent, %s of unknown outcome, %s parsed and not accepted, %s packages not finished",
			n(r.Unsent-r.maybeSent), n(r.maybeSent), n(int64(r.NotAdded)), n(int64(r.NotParsed)))
	}
	for _, problem := range r.Problems {
		line("PROBLEM", "%s", problem)
	}
}

func (r *report) leftOver() string {
	if r.Unsent == 0 {
		return ""
	}
	return fmt.Sprintf(" + %s unsent", humanize.Comma(r.Unsent))
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

// printJSON writes the report as one line.
func (r *report) printJSON(w io.Writer) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", line)
	return err
}
