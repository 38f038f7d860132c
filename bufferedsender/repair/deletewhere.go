package repair

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/go-azsearch/azsearch/internal/bound"
	"github.com/go-azsearch/azsearch/internal/nilcheck"
	"github.com/go-azsearch/azsearch/internal/wholeindex"
	"github.com/go-azsearch/azsearch/models"
)

// ErrMatchesLeft means that documents still match, or match again, after a DeleteWhere; see Receipt.Left.
var ErrMatchesLeft = errors.New("documents still match, or match again")

// DeleteOptions configures DeleteWhere. Total or AllowDeletes is required, unless DryRun is set.
type DeleteOptions struct {
	// DryRun counts the matching documents and deletes nothing. No sender is needed. Keys, OnKey and Digest then cover all
	// matching documents, so the digest of a later deletion is the same if nothing has changed.
	DryRun bool

	// Total returns the number of all documents of the index, matching or not: use the DocumentCount of a search.Client. It
	// is called once, before the first delete.
	Total func(ctx context.Context) (int64, error)
	// MaxShare is the share of Total that may be deleted in 24 hours, by all calls and passes of this process for the
	// index; calls of other processes are not counted. It must be more than 0 and at most 1. Defaults to 0.05, at least
	// one document and at most 10 000; see GUARDS.md.
	MaxShare float64
	// AllowDeletes lifts that bound. It must be the exact number of matching documents, as a dry run reports it in
	// Receipt.Matched. If another number matches, nothing is deleted; if none matches, there is no error. Documents that
	// begin to match later are bounded by MaxShare of Total, or of AllowDeletes without Total. Defaults to 0: MaxShare
	// applies.
	AllowDeletes int64
	// SameIndex is as in Options.
	SameIndex bool

	// Pause is the longest time that the index needs to show what the service has confirmed. Keys are held for a pause
	// before they are looked up, and the last scan begins after a pause. While that scan finds documents it is repeated,
	// after two pauses and after four more. Defaults to 2 s; negative: no pause, because the index shows writes at once.
	Pause time.Duration
	// UntilStable is the maximum number of further rounds, which delete what the last scan has found: documents that began
	// to match meanwhile. Defaults to 0.
	UntilStable int

	// OnKey is called for each confirmed delete, in the order of Receipt.Digest, by the goroutine that called DeleteWhere.
	// Later batches wait for it, so it should be fast. Defaults to none.
	OnKey func(key string)

	// batchKeys is how many keys are held, looked up and deleted together: at most 1000, and at most a quarter of the
	// sender's buffer. 0 for 500; tests lower it.
	batchKeys int
	// parallel is how many batches are looked up or in the sender at once. They fill at most a quarter of its buffer,
	// unless one batch needs more. 0 for 8; tests lower it.
	parallel int
	// heldKeys is how many keys are held or wait for their turn, at least one batch. With a Pause of 2 s it limits the pace
	// to half as many keys per second. A key takes some 500 bytes. 0 for 50 000; tests lower it.
	heldKeys int
	// spoolBytes is the memory for the keys of a scan: 16 bytes and its length for each key. Further keys are counted, and
	// scanned again to be deleted. 0 for 64 MiB, about a million keys; tests lower it.
	spoolBytes int64
	// Logger receives a warning if a dry run has a sender of an index with another name. Defaults to slog.Default().
	Logger *slog.Logger
}

// DeleteFailure is one failed delete.
type DeleteFailure struct {
	Key string `json:"key"`
	// Reason is the text of models.Outcome.Reason. Status is the HTTP status of the service, 0 without an answer.
	Reason string `json:"reason"`
	Status int    `json:"status,omitempty"`
	// Unknown reports that the document may be deleted anyway.
	Unknown bool   `json:"unknown,omitempty"`
	Message string `json:"message"`
	Err     error  `json:"-"` // models.Outcome.Err
}

// Bounds of a receipt.
const (
	maxDeleteFailures = 100
	maxReceiptKeys    = 100
)

// Receipt is the result of a DeleteWhere; it can be encoded as JSON. At the end Matched = Deleted + Changed + Failed +
// Unsent, except in a dry run. A key found in several rounds counts in each.
type Receipt struct {
	Began time.Time `json:"began"`
	Ended time.Time `json:"ended"`
	// DryRun reports that nothing was deleted.
	DryRun bool `json:"dryRun,omitempty"`
	// Refused is set by a dry run: the error by which a real run would end before the first delete, "" for none. An
	// example: more documents match than MaxShare allows.
	Refused string `json:"refused,omitempty"`
	// Total is the result of DeleteOptions.Total, 0 without it.
	Total int64 `json:"total,omitempty"`
	// Rounds is the number of rounds that deleted what a scan had found.
	Rounds int `json:"rounds"`

	// Matched is the number of documents that matched when the index was scanned.
	Matched int64 `json:"matched"`
	// Deleted is the number of deletes that the service has confirmed.
	Deleted int64 `json:"deleted"`
	// Changed is the number of documents that no longer matched, or no longer existed, when they were looked up just before
	// the delete. They are left alone.
	Changed int64 `json:"changed"`
	// Failed is the number of failed deletes. Failures has the first hundred of them, in key order within a round.
	Failed   int64           `json:"failed"`
	Failures []DeleteFailure `json:"failures,omitempty"`
	// Unsent is the number of documents not deleted because the call or the sender ended first, or the sender gave up the
	// delete; or all matching documents if the guard refused.
	Unsent int64 `json:"unsent"`
	// Unknown is the number of Failed and Unsent documents that may be deleted anyway, because a request had no answer.
	Unknown int64 `json:"unknown"`

	// Keys are the first hundred deleted keys, or matching keys in a dry run. OnKey receives all.
	Keys []string `json:"keys,omitempty"`
	// Digest is the SHA-256, in hexadecimal, of all deleted keys, each followed by a line feed: round after round, and in
	// byte order within a round. sha256sum prints the same for a file with one line per call of OnKey.
	Digest string `json:"digest"`

	// NoneLeftAt is the start of the scan that found no matching document. Zero: each scan found some, or none was made.
	NoneLeftAt time.Time `json:"noneLeftAt,omitzero"`
	// Left is the number of documents that the last scan has found: they began to match, failed to be deleted, or are still
	// shown by the index though they were deleted.
	Left int64 `json:"left,omitempty"`
}

// DeleteWhere deletes all documents that match, any number of them, and reports proof in a receipt, as privacy erasure
// needs. matching reads the index through a filter: search.NewRows with RowsOptions.Filter. Without a filter all
// documents match, which MaxShare refuses. to is a sender of the same index; a sender of an index with another name is
// refused, see DeleteOptions.SameIndex. The scan before the first delete takes most of the time; RowsOptions.ReadAhead
// reads several of its pages at once.
//
// DeleteWhere first counts the matching documents and refuses too many, see MaxShare and AllowDeletes; begin with a dry
// run. Then it holds each batch of keys in the sender, looks the keys up again, and deletes those that still match. At
// the end it scans again. A nil error means that this scan found no match, so that Receipt.NoneLeftAt is set, and that
// no delete failed.
//
// Each key is held: first until all earlier writes of this sender to it are confirmed, then for Pause, until the index
// shows them. So the delete overwrites nothing that is pending. Actions that the sender accepts for a held key wait
// and are sent after the delete. Writes of other senders and processes are only seen in the index. A document is
// deleted although such a write has made it stop matching, if the index does not show that write at the lookup, or if
// it comes between lookup and delete. If that matters, stop these writers or let them write again.
//
// Permissions can hide documents from a search.Rows, even with an admin key, and would make the receipt untrue. So
// DeleteWhere first reads the definition of the index. If it has permission filters, all reads are elevated; if they
// cannot be, or the definition cannot be read, nothing is deleted and the error is search.ErrPartialView. It reads the
// definition again before and after the last scan, and gives no receipt if filters have come that it cannot pass.
// search.ClientOptions.AssumeWholeView declares that nothing is hidden.
//
// Deletes have class models.ClassBestEffort, unless ctx has another. While sending is suspended or paused no batch
// begins, except one a minute as a probe if batches of this call wait in the sender. If the service rejects every
// document, sending stays suspended and DeleteWhere waits until ctx ends, so give ctx a deadline. When ctx ends,
// deletes that are in no request are withdrawn and never sent, requests under way are awaited for at most 5 s, and the
// receipt has all outcomes. Concurrent calls are safe, also with the same filter.
//
// The receipt is valid with every error: one that names all invalid options, when nothing was sent; a *DeletesError in
// the chain, when nothing was deleted or no more than the bound; ErrMatchesLeft; an error of a scan, a lookup or Total;
// the error of ctx; or the first failed delete, a *bufferedsender.ActionError.
//
// A sender with a Queue is refused, because it cannot hold keys.
func DeleteWhere(ctx context.Context, matching Index, to Sender, opts *DeleteOptions) (Receipt, error) {
	if opts == nil {
		opts = &DeleteOptions{}
	}
	d := &deletion{index: matching, to: orNone(to), options: *opts, digest: sha256.New()}
	d.receipt.Began, d.receipt.DryRun = time.Now(), opts.DryRun
	err := d.check()
	if err == nil {
		if _, has := models.ClassOf(ctx); !has {
			ctx = models.WithClass(ctx, models.ClassBestEffort)
		}
		err = d.run(wholeindex.Require(ctx))
		d.settleSpent()
	}
	d.receipt.Ended, d.receipt.Digest = time.Now(), hex.EncodeToString(d.digest.Sum(nil))
	if ended := ctx.Err(); err != nil && ended != nil && !errors.Is(err, ended) {
		err = fmt.Errorf("%w: %w", ended, err) // the error had another cause
	}
	if err != nil {
		err = fmt.Errorf("repair: DeleteWhere: %w", err)
	}
	return d.receipt, err
}

// check fills in the defaults and returns all errors of the options.
func (d *deletion) check() error {
	o := &d.options
	var problems []error
	problem := func(is bool, format string, args ...any) {
		if is {
			problems = append(problems, fmt.Errorf(format, args...))
		}
	}
	problem(nilcheck.IsNil(d.index), "there is no index")
	if !o.DryRun {
		problem(d.to == nil, "there is no sender")
		problem(o.Total == nil && o.AllowDeletes == 0, "neither Total nor AllowDeletes is set: "+
			"set Total, or make a dry run and set AllowDeletes to its number of matches")
	}
	problem(o.AllowDeletes < 0, "AllowDeletes is %d", o.AllowDeletes)
	problem(math.IsNaN(o.MaxShare) || o.MaxShare < 0 || o.MaxShare > 1, "MaxShare is %v, not a share from 0 to 1", o.MaxShare)
	problem(o.UntilStable < 0, "UntilStable is %d", o.UntilStable)
	if d.to != nil && !o.DryRun {
		info := d.to.Info()
		problem(info.Queued, "the sender has a Queue, so it cannot hold keys, which other processes may send: use a sender of the same index without one, "+
			"or delete the rows at their source and append their keys with IndexKeys")
		problem(info.Closed, "the sender is closed")
		d.fit(info.MaxBufferedActions)
	}
	if o.Pause == 0 {
		o.Pause = 2 * time.Second
	}
	if o.spoolBytes == 0 {
		o.spoolBytes = 64 << 20
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if err := otherIndex(d.index, d.to, o.SameIndex); err != nil {
		if o.DryRun {
			d.receipt.Refused = err.Error()
			o.Logger.Warn("repair: DeleteWhere without DryRun would be refused", "error", err)
		} else {
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}

// fit reduces the batch sizes so that the sender holds at most a quarter of its buffer. Deletes of held keys do not
// wait for room.
func (d *deletion) fit(buffer int) {
	o := &d.options
	o.batchKeys, o.parallel, o.heldKeys = cmp.Or(o.batchKeys, 500), cmp.Or(o.parallel, 8), cmp.Or(o.heldKeys, 50_000)
	if buffer > 0 {
		o.batchKeys = max(1, min(o.batchKeys, buffer/4))
		o.parallel = max(1, min(o.parallel, buffer/4/o.batchKeys))
	}
	o.batchKeys = max(1, min(o.batchKeys, o.heldKeys))
}

// guard refuses to delete more than the options allow, and sets how much may be deleted in all. It counts what it
// allows against the next 24 hours, except what AllowDeletes asks for.
func (d *deletion) guard() (err error) {
	o, matched, base := &d.options, d.receipt.Matched, d.receipt.Total
	if o.Total == nil {
		base = matched
	}
	inProcess(d.index, func(s *spent) {
		now := time.Now()
		d.spent, _ = s.lately(now)
		d.rows = base + d.spent
		d.most = bound.Most(d.rows, o.MaxShare)
		d.allowed = max(0, d.most-d.spent)
		switch {
		case matched == 0:
		case o.AllowDeletes > 0:
			d.allowed += matched
			if matched != o.AllowDeletes {
				err = fmt.Errorf("AllowDeletes is %d, but must be the exact number of matching documents: %w", o.AllowDeletes, d.refusal(matched))
			}
		case matched > d.allowed:
			err = d.refusal(matched)
		case !o.DryRun:
			d.charged, d.counted = matched, now
			s.add(now, matched, 0)
		}
	})
	return err
}

// settleSpent corrects the count of the guard to what was deleted.
func (d *deletion) settleSpent() {
	switch done := max(0, d.receipt.Deleted+d.receipt.Unknown-d.options.AllowDeletes); {
	case done > d.charged:
		inProcess(d.index, func(s *spent) { s.add(time.Now(), done-d.charged, 0) })
	case done < d.charged:
		inProcess(d.index, func(s *spent) { s.back(d.counted, d.charged-done, 0) })
	}
}

// refusal is the error for n deletes.
func (d *deletion) refusal(n int64) error {
	return &DeletesError{Surplus: n, Deleted: d.spent, Most: d.most, IndexRows: d.rows}
}
