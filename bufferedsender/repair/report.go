package repair

import (
	"slices"
	"sync"
	"time"
)

// Kind is a kind of difference between source and index.
type Kind string

// Kinds of differences, by key.
const (
	// Missing: only the source has the document.
	Missing Kind = "missing"
	// Surplus: the index has the document; the source lacks or hides it.
	Surplus Kind = "surplus"
	// Different: both have it, the index with a lower version or another digest.
	Different Kind = "different"
	// Ahead: both have it, the index with a higher version. It is left alone, see Options.TrustSource.
	Ahead Kind = "ahead"
	// Rejected: the service rejected the document as the source has it, in this or an earlier pass.
	Rejected Kind = "rejected"
	// Unreadable: a row of one side has a Problem, so the key cannot be compared.
	Unreadable Kind = "unreadable"
	// Unsettled: the document differed again after each repair.
	Unsettled Kind = "unsettled"
)

// mostKeysInReport bounds the keys of each kind in a report.
const mostKeysInReport = 100

// Report is the result of a pass. In JSON durations are nanoseconds.
type Report struct {
	// Began is the start of the pass. A resumed pass has the start of the interrupted one.
	Began time.Time     `json:"began"`
	Took  time.Duration `json:"took"`
	// SourceRows and IndexRows are the numbers of rows compared. Hidden are rows of the source that must not be in the
	// index. All are 0 after RunTree and RunKeys, which do not compare rows.
	SourceRows int64 `json:"sourceRows"`
	IndexRows  int64 `json:"indexRows"`
	Hidden     int64 `json:"hidden"`

	// Missing, Surplus, Different and Ahead are confirmed differences.
	Missing   int64 `json:"missing"`
	Surplus   int64 `json:"surplus"`
	Different int64 `json:"different"`
	Ahead     int64 `json:"ahead"`
	// Unreadable are keys left out because a row of one side has a Problem.
	Unreadable int64 `json:"unreadable,omitempty"`
	// Passing are differences that had gone when the keys were looked up again. Pending are differences of keys with
	// unfinished writes, here or elsewhere.
	Passing int64 `json:"passing"`
	Pending int64 `json:"pending"`

	// Repaired and Deleted are documents written and deleted, as confirmed by the service. Marked are keys that
	// Options.Mark accepted.
	Repaired int64 `json:"repaired"`
	Deleted  int64 `json:"deleted"`
	Marked   int64 `json:"marked"`
	// Rejected are documents that the service rejected now, or in an earlier pass with the same version and digest. Failed
	// are documents not written for another reason: the sender was closed or gave up. Unsettled are keys that differed
	// again after each repair.
	Rejected  int64 `json:"rejected"`
	Failed    int64 `json:"failed"`
	Unsettled int64 `json:"unsettled"`
	// Hinted are keys of Options.Hints, which are not counted as Missing, Surplus, Different or Ahead, or those given to
	// RunKeys, which are.
	Hinted int64 `json:"hinted"`

	// Tree is the result of RunTree; nil for a pass.
	Tree *TreeReport `json:"tree,omitempty"`

	// Elsewhere are the ranges that other processes compare or have finished.
	Elsewhere []string `json:"elsewhere,omitempty"`
	// Keys has the first hundred keys found of each kind: in key order in a pass with one range, in hash order after
	// RunTree.
	Keys map[Kind][]string `json:"keys,omitempty"`
	// Complete reports that there was no error.
	Complete bool `json:"complete,omitempty"`
	// DryRun reports that nothing was written.
	DryRun bool `json:"dryRun,omitempty"`
	// Refused is set by a dry run: the error by which a real run with the same options would have refused to delete or
	// overwrite, "" for none. If the sender would be refused, that is logged instead.
	Refused string `json:"refused,omitempty"`
}

// Agrees reports whether everything was compared and the index matched the source before the pass, apart from writes
// under way and documents that the service rejects. After a pass that has repaired differences it is false; then check
// the error and Ahead, Unreadable, Rejected, Failed and Unsettled.
func (r *Report) Agrees() bool {
	if r.Tree != nil && (r.Tree.Unknown > 0 || r.Tree.More) {
		return false
	}
	return r.Complete && r.Missing+r.Surplus+r.Different+r.Ahead+r.Unreadable+r.Unsettled+r.Repaired+r.Deleted+r.Marked == 0 && len(r.Elsewhere) == 0
}

// tally is a report that several goroutines count in.
type tally struct {
	mu sync.Mutex
	Report
}

// count adds one to a counter of the report and notes the key. The kind "" notes no key.
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

func (t *tally) add(counter *int64, n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	*counter += int64(n)
}

// snapshot returns a deep copy of the keys and all counts.
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

// plus adds the counts and keys of another report, and keeps the earlier Began.
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
