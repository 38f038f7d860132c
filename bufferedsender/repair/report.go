package repair

import (
	"slices"
	"sync"
	"time"
)

// Kind says how the index differs from the source in a key.
type Kind string

// Kinds of differences.
const (
	// Missing: the source has the document, the index does not.
	Missing Kind = "missing"
	// Surplus: the index has the document; the source does not, or hides it.
	Surplus Kind = "surplus"
	// Different: both have it, and the index an older version, or one with another digest.
	Different Kind = "different"
	// Ahead: both have it, and the version of the index is larger. It is left alone, see Options.TrustSource.
	Ahead Kind = "ahead"
	// Rejected: the service has rejected what the source has, now or in an earlier pass.
	Rejected Kind = "rejected"
	// Unreadable: one side shows a row with a Problem, so nothing is known of the key.
	Unreadable Kind = "unreadable"
	// Unsettled: it differed again after each repair.
	Unsettled Kind = "unsettled"
)

// mostKeysInReport is how many keys of each kind a report has.
const mostKeysInReport = 100

// Report is what a pass has found and done. As JSON its durations are nanoseconds.
type Report struct {
	// Began is when the pass began: of one that goes on where another ended, when that one did.
	Began time.Time     `json:"began"`
	Took  time.Duration `json:"took"`
	// SourceRows and IndexRows are how many rows were compared; of the source's, Hidden are not to be in the index.
	// All are 0 after RunTree, which does not compare rows, and after RunKeys.
	SourceRows int64 `json:"sourceRows"`
	IndexRows  int64 `json:"indexRows"`
	Hidden     int64 `json:"hidden"`

	// Missing, Surplus, Different and Ahead are confirmed differences.
	Missing   int64 `json:"missing"`
	Surplus   int64 `json:"surplus"`
	Different int64 `json:"different"`
	Ahead     int64 `json:"ahead"`
	// Unreadable are keys that were left out, because a side shows a row with a Problem.
	Unreadable int64 `json:"unreadable,omitempty"`
	// Passing are differences that were gone when they were looked at again; Pending those of keys of which something
	// was on its way.
	Passing int64 `json:"passing"`
	Pending int64 `json:"pending"`

	// Repaired are documents that were written, Deleted those that were deleted, in a way that the service has
	// confirmed. Marked are keys that were given to Options.Mark.
	Repaired int64 `json:"repaired"`
	Deleted  int64 `json:"deleted"`
	Marked   int64 `json:"marked"`
	// Rejected are documents that the service has rejected, now or as they are in an earlier pass. Failed are those
	// of which nothing became for another reason: the sender was closed, or gave up. Unsettled are keys that differed
	// again after each repair.
	Rejected  int64 `json:"rejected"`
	Failed    int64 `json:"failed"`
	Unsettled int64 `json:"unsettled"`
	// Hinted are keys of Options.Hints, which are counted nowhere else but in Repaired, Deleted, Marked, Rejected,
	// Failed and Unsettled.
	Hinted int64 `json:"hinted"`

	// Tree is what RunTree has found; nil for a pass.
	Tree *TreeReport `json:"tree,omitempty"`

	// Elsewhere are the ranges that other processes had, or had finished.
	Elsewhere []string `json:"elsewhere,omitempty"`
	// Keys has the first hundred keys of each kind that were found: in their order in a pass with one range, and in
	// that of their hashes after RunTree.
	Keys map[Kind][]string `json:"keys,omitempty"`
	// Complete says that there was no error.
	Complete bool `json:"complete,omitempty"`
	// DryRun says that nothing was written.
	DryRun bool `json:"dryRun,omitempty"`
	// Refused is the error that a run with the same options would have ended with instead of deleting, if this is a
	// dry run: the source has no row, for example. "": none. That a sender would be refused is logged.
	Refused string `json:"refused,omitempty"`
}

// Agrees reports whether all was compared, and the index was like the source before the pass, but for what was on its
// way, and what the service rejects. After a pass that has repaired all it is false; what to look at then is whether
// there was an error, and Ahead, Unreadable, Rejected, Failed and Unsettled.
func (r *Report) Agrees() bool {
	if r.Tree != nil && (r.Tree.Unknown > 0 || r.Tree.More) {
		return false
	}
	return r.Complete && r.Missing+r.Surplus+r.Different+r.Ahead+r.Unreadable+r.Unsettled+r.Repaired+r.Deleted+r.Marked == 0 && len(r.Elsewhere) == 0
}

// tally is a report that several goroutines add to.
type tally struct {
	mu sync.Mutex
	Report
}

// count adds one to a counter of the report, and notes the key.
func (t *tally) count(kind Kind, counter *int64, key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	*counter++
	t.note(kind, key)
}

func (t *tally) note(kind Kind, key string) {
	if kind == "" || len(t.Keys[kind]) >= mostKeysInReport || slices.Contains(t.Keys[kind], key) {
		return
	}
	if t.Keys == nil {
		t.Keys = make(map[Kind][]string)
	}
	t.Keys[kind] = append(t.Keys[kind], key)
}

// add adds n to a counter.
func (t *tally) add(counter *int64, n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	*counter += int64(n)
}

// snapshot returns a copy.
func (t *tally) snapshot() Report {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.Report
	r.Keys = nil
	for kind, keys := range t.Keys {
		if r.Keys == nil {
			r.Keys = make(map[Kind][]string)
		}
		r.Keys[kind] = slices.Clone(keys)
	}
	return r
}

// plus adds what another report has counted.
func (r *Report) plus(o *Report) {
	if r.Began.IsZero() || !o.Began.IsZero() && o.Began.Before(r.Began) {
		r.Began = o.Began
	}
	for _, c := range [][2]*int64{
		{&r.SourceRows, &o.SourceRows}, {&r.IndexRows, &o.IndexRows}, {&r.Hidden, &o.Hidden},
		{&r.Missing, &o.Missing}, {&r.Surplus, &o.Surplus}, {&r.Different, &o.Different}, {&r.Ahead, &o.Ahead}, {&r.Unreadable, &o.Unreadable},
		{&r.Passing, &o.Passing}, {&r.Pending, &o.Pending},
		{&r.Repaired, &o.Repaired}, {&r.Deleted, &o.Deleted}, {&r.Marked, &o.Marked},
		{&r.Rejected, &o.Rejected}, {&r.Failed, &o.Failed}, {&r.Unsettled, &o.Unsettled}, {&r.Hinted, &o.Hinted},
	} {
		*c[0] += *c[1]
	}
	r.Elsewhere = append(r.Elsewhere, o.Elsewhere...)
	for kind, keys := range o.Keys {
		if r.Keys == nil {
			r.Keys = make(map[Kind][]string)
		}
		room := mostKeysInReport - len(r.Keys[kind])
		r.Keys[kind] = append(r.Keys[kind], keys[:min(len(keys), max(room, 0))]...)
	}
}
