package load

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/amount"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/exit"
)

// Report is the result of a load.
type Report struct {
	Files        int              `json:"files"`
	Records      int64            `json:"records"` // read
	Completed    int64            `json:"completed"`
	Deleted      int64            `json:"deleted,omitzero"` // deletions among these
	Rejected     int64            `json:"rejected"`
	Kinds        map[string]int64 `json:"rejectedByKind,omitempty"`
	Rejects      string           `json:"rejects,omitempty"`  // the file
	Examples     []string         `json:"examples,omitempty"` // the first rejects as text
	Filtered     int64            `json:"filtered,omitzero"`  // records that -jq turned into no document
	Unsent       int64            `json:"unsent"`
	Unknown      int64            `json:"unknown"` // of the unsent documents, those that may have been applied
	Retries      int64            `json:"retries"`
	Requests     int64            `json:"requests"`
	Bytes        int64            `json:"bytes"` // of the documents
	Seconds      float64          `json:"seconds"`
	PerSecond    float64          `json:"documentsPerSecond"`
	DryRun       bool             `json:"dryRun,omitzero"`
	Done         bool             `json:"done,omitzero"` // an earlier run had read everything, so this one did nothing
	Error        string           `json:"error,omitempty"`
	Exit         int              `json:"exit"`
	FirstKey     string           `json:"-"` // the key of a document that is in the index now; "" if this run knows none
	LastKey      string           `json:"-"` // the last key that was loaded, unless it was deleted after that
	LastDeletion string           `json:"-"` // the last key that was deleted, unless it was loaded after that
}

func (r *run) report(err error) (Report, error) {
	p := Report{
		Files: len(r.Files), Records: r.records.Load(), Completed: r.completed.Load(), Deleted: r.deleted.Load(), Rejected: r.rejected.Load(),
		Kinds: r.kindsNow(), Rejects: r.Rejects.Name(), Examples: r.Rejects.First(), Filtered: r.filtered.Load(), Unsent: r.unsent.Load(), Unknown: r.unknown.Load(),
		Bytes: r.bytes.Load(), Seconds: time.Since(r.began).Seconds(), DryRun: r.sender == nil, Done: r.done, FirstKey: r.firstKey, LastKey: r.lastKey, LastDeletion: r.lastDelete,
	}
	if r.earlier > 0 {
		p.Kinds["of earlier runs"] = r.earlier
	}
	p.PerSecond = float64(p.Completed) / max(p.Seconds, 1e-3)
	if r.sender != nil {
		s := r.sender.Stats()
		p.Retries, p.Requests = s.Retries, s.Requests
	} else {
		p.Requests = (p.Completed + bufferedsender.DefaultMaxBatchActions - 1) / bufferedsender.DefaultMaxBatchActions
	}
	again := "run it again"
	if r.Checkpoint != nil {
		again = "run it again with the same -resume"
	}
	switch {
	case errors.Is(err, errInterrupted) && p.DryRun: // what is completed is only converted
		err = exit.With(exit.Interrupted, errors.New("interrupted; nothing was sent"))
	case errors.Is(err, errInterrupted):
		err = exit.With(exit.Interrupted, fmt.Errorf("interrupted with %s in the index, without the remaining records; %s to continue", amount.Of(p.Completed, "document"), again))
	case err != nil && exit.Code(err) == exit.Service:
		err = exit.With(exit.Service, fmt.Errorf("%w; %s completed before, so %s when the service is back", err, amount.Of(p.Completed, "document"), again))
	case err == nil && p.Rejected > 0:
		what, next := "not in the index", "load that file"
		switch {
		case p.DryRun:
			what, next = "would be rejected", "run it again"
		case r.Again != "":
			next = "run: " + r.Again + " " + p.Rejects
		}
		err = exit.With(exit.Incomplete, fmt.Errorf("%s: %s of %s (%s); see %s, correct the cause, and %s",
			what, humanize.Comma(p.Rejected), amount.Of(p.Records+r.earlier, "record"), kindList(p.Kinds), p.Rejects, next))
	}
	p.Exit = exit.Code(err)
	if err != nil {
		p.Error = err.Error()
	}
	return p, err
}

// String formats the report as one line.
func (p Report) String() string {
	if p.Done {
		return "nothing to do: an earlier run with this -resume read everything to the end; to load it again, or rows of a query added since, remove its file"
	}
	what := "loaded"
	if p.DryRun {
		what = "would load"
	}
	s := fmt.Sprintf("%s %s of %s", what, amount.Of(p.Completed-p.Deleted, "document"), amount.Of(p.Records, "record"))
	if p.Deleted > 0 {
		s += fmt.Sprintf(", deleted %s", humanize.Comma(p.Deleted))
	}
	if p.Filtered > 0 {
		s += fmt.Sprintf(", %s left out by -jq", humanize.Comma(p.Filtered))
	}
	if p.DryRun {
		return s + fmt.Sprintf(": %s in about %s; nothing was sent", humanize.Bytes(uint64(p.Bytes)), amount.Of(p.Requests, "request"))
	}
	return s + fmt.Sprintf(" in %s (%s documents/s, %s/s, %s)", time.Duration(p.Seconds*float64(time.Second)).Round(10*time.Millisecond),
		humanize.Comma(int64(p.PerSecond)), humanize.Bytes(uint64(float64(p.Bytes)/max(p.Seconds, 1e-3))), amount.Of(p.Retries, "retry"))
}

func kindList(kinds map[string]int64) string {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		parts = append(parts, fmt.Sprintf("%s %s", humanize.Comma(kinds[kind]), kind))
	}
	return strings.Join(parts, ", ")
}

// Progress is a snapshot of a running load.
type Progress struct {
	Read, Total int64 // bytes of the files on disk; Total is 0 if unknown
	Completed   int64
	Rejected    int64
	Kinds       map[string]int64
	Bytes       int64 // of the documents
	InFlight    int
	Retries     int64
	Held        error // why sending is suspended, or requests are not answered; nil while sending
	Elapsed     time.Duration
}

// Progress returns the current progress. It is safe for concurrent use.
func (r *run) Progress() Progress {
	p := Progress{
		Read: r.before.Load(), Total: r.total.Load(), Completed: r.completed.Load(), Rejected: r.rejected.Load(), Kinds: r.kindsNow(),
		Bytes: r.bytes.Load(), Elapsed: time.Since(r.began),
	}
	r.mu.Lock()
	if r.file != nil {
		p.Read += r.file.Read()
	}
	r.mu.Unlock()
	if r.sender != nil {
		s := r.sender.Stats()
		p.InFlight, p.Retries, p.Held = s.InFlight, s.Retries, r.sender.Health().Err
	}
	return p
}

// String formats the progress as one line.
func (p Progress) String() string {
	s := amount.Of(p.Completed, "document")
	seconds := max(p.Elapsed.Seconds(), 1e-3)
	s += fmt.Sprintf("  %s/s  %s/s", humanize.Comma(int64(float64(p.Completed)/seconds)), humanize.Bytes(uint64(float64(p.Bytes)/seconds)))
	if p.Total > 0 && p.Read > 0 {
		share := min(float64(p.Read)/float64(p.Total), 1)
		left := time.Duration((1 - share) / share * float64(p.Elapsed)).Round(time.Second)
		s = fmt.Sprintf("%3.0f%%  %s  ETA %s", 100*share, s, left)
	} else {
		s = humanize.Bytes(uint64(p.Read)) + "  " + s
	}
	s += fmt.Sprintf("  in flight %d", p.InFlight)
	if p.Retries > 0 {
		s += "  retries " + humanize.Comma(p.Retries)
	}
	if p.Rejected > 0 {
		s += fmt.Sprintf("  rejected %s (%s)", humanize.Comma(p.Rejected), kindList(p.Kinds))
	}
	if p.Held != nil {
		s += "  waiting: " + p.Held.Error()
	}
	return s
}

// sizeOf returns the size of a regular file, else 0.
func sizeOf(name string) int64 {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	return info.Size()
}
