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

// ErrMatchesLeft is in the error of a DeleteWhere after whose work documents match still, or again; see Receipt.Left.
var ErrMatchesLeft = errors.New("documents match still, or again")

// DeleteOptions are the options of DeleteWhere. Total or AllowDeletes must be there, but for a dry run.
type DeleteOptions struct {
	// DryRun counts what matches, and deletes nothing. No sender is needed. Keys, OnKey and Digest are of what
	// matches, so that the digest of the deletion that follows is the same if nothing has changed.
	DryRun bool

	// Total returns how many documents the index has, whether they match or not: DocumentCount of a search.Client,
	// for example. It is called once, before anything is deleted.
	Total func(ctx context.Context) (int64, error)
	// MaxShare is how large a share of Total may be deleted in 24 hours, by all calls of this process for the index and
	// its passes without a Store; more than 0 and at most 1. See GUARDS.md. Defaults to 0.05, one document at least,
	// and no more than 10 000.
	MaxShare float64
	// AllowDeletes lifts that bound: it is the exact number of documents that match, as a dry run has counted them in
	// Receipt.Matched. If another number matches nothing is deleted; if none does that is no error. What begins to
	// match later is not in it: of that MaxShare of Total may be deleted, or of AllowDeletes without Total. Defaults
	// to 0: MaxShare decides.
	AllowDeletes int64
	// SameIndex is as in Options.
	SameIndex bool

	// Pause is how long the index takes at the most to show what the service has confirmed. So long keys are held
	// before they are looked up, and so long the last scan is waited for; if that finds something it is repeated
	// after twice, and four times as long. Defaults to 2 s; negative: there is no pause, because the index shows
	// everything at once.
	Pause time.Duration
	// UntilStable is how many times at most what the last scan has found is deleted as well: documents that began to
	// match meanwhile. Defaults to 0: once is enough.
	UntilStable int

	// OnKey is called with each key whose delete was confirmed, in the order of Receipt.Digest, by the goroutine that
	// called DeleteWhere. No batch that is later in the order ends meanwhile, so it should be quick. Defaults to
	// none.
	OnKey func(key string)

	// batchKeys is how many keys are held, looked up and deleted together, at most 1000, and not more than a quarter of
	// the sender's buffer. 500, but in tests.
	batchKeys int
	// parallel is how many batches at most are looked up or in the sender at once, but not more than fill a quarter
	// of its buffer, or one. 8, but in tests.
	parallel int
	// heldKeys is how many keys at most are held at once, or wait for their turn, at least one batch. With a Pause of
	// 2 s it bounds the pace to half as many a second. A key takes some 500 bytes. 50 000, but in tests.
	heldKeys int
	// spoolBytes is how much memory the keys of a scan may take, 16 bytes and its length each. What does not fit is
	// counted, and scanned again when it is deleted. 64 MiB, which is a million keys, but in tests.
	spoolBytes int64
	// Logger is told if a dry run has a sender of an index with another name than matching has. Defaults to
	// slog.Default().
	Logger *slog.Logger
}

// DeleteFailure is a delete that failed.
type DeleteFailure struct {
	Key string `json:"key"`
	// Reason is that of models.Outcome in words, and Status what the service has answered, 0 if it has not.
	Reason string `json:"reason"`
	Status int    `json:"status,omitempty"`
	// Unknown says that it may have been deleted all the same.
	Unknown bool   `json:"unknown,omitempty"`
	Message string `json:"message"`
	Err     error  `json:"-"` // that of models.Outcome
}

// How many failures and keys a receipt has.
const (
	maxDeleteFailures = 100
	maxReceiptKeys    = 100
)

// Receipt says what a DeleteWhere has done, in JSON too. Matched = Deleted + Changed + Failed + Unsent at the end,
// but in a dry run. A key that was met in several rounds counts in each.
type Receipt struct {
	Began time.Time `json:"began"`
	Ended time.Time `json:"ended"`
	// DryRun says that nothing was deleted.
	DryRun bool `json:"dryRun,omitempty"`
	// Refused is the error with which a call that is no dry run would end before anything is deleted, "" for none:
	// more match than MaxShare allows, for example.
	Refused string `json:"refused,omitempty"`
	// Total is what DeleteOptions.Total has returned, 0 without.
	Total int64 `json:"total,omitempty"`
	// Rounds is how many times what a scan had found was deleted.
	Rounds int `json:"rounds"`

	// Matched is how many documents matched when the index was scanned.
	Matched int64 `json:"matched"`
	// Deleted is how many of them the service has confirmed to be gone, because of this call.
	Deleted int64 `json:"deleted"`
	// Changed is how many did not match any more, or were gone, when they were looked up again just before the
	// delete. They are not touched.
	Changed int64 `json:"changed"`
	// Failed is how many deletes have failed; Failures are the first hundred by key.
	Failed   int64           `json:"failed"`
	Failures []DeleteFailure `json:"failures,omitempty"`
	// Unsent is how many were not deleted because the call or the sender ended before, or the sender gave them up; or
	// all that matched, because they were refused as too many.
	Unsent int64 `json:"unsent"`
	// Unknown is how many of Failed and Unsent may have been deleted all the same, because a request had no answer.
	Unknown int64 `json:"unknown"`

	// Keys are the first hundred of the keys that were deleted, or in a dry run would be; OnKey gets all.
	Keys []string `json:"keys,omitempty"`
	// Digest is the SHA-256, in hexadecimal, of all keys that were deleted, each with a line feed behind it: those of
	// a round in the order of their bytes, round after round. It is what sha256sum prints for a file with a line for
	// each call of OnKey.
	Digest string `json:"digest"`

	// NoneLeftAt is when the scan began that found no document that matches, as the service saw it then. Zero: there
	// was none such.
	NoneLeftAt time.Time `json:"noneLeftAt,omitzero"`
	// Left is how many documents the last scan has found: ones that began to match, that failed, or that the index
	// shows for longer than the pauses after they were deleted.
	Left int64 `json:"left,omitempty"`
}

// DeleteWhere deletes all documents that match, any number of them, and proves it: what privacy erasure needs, or a
// source that is gone. matching is the index as the filter shows it: search.NewRows with RowsOptions.Filter. A Rows
// without a filter matches everything, which the bound on the share refuses. to is a sender of the same index; one
// with another name is refused, see DeleteOptions.SameIndex. What it takes before the first delete is the scan, a
// page after the other: RowsOptions.ReadAhead makes that several at once.
//
// It counts what matches first, and refuses too many: see MaxShare and AllowDeletes; begin with a dry run. Then each
// batch of keys is held in the sender, looked up again, and what still matches is deleted; what does not stays. At
// last a scan has to find nothing. nil means that it did, so that Receipt.NoneLeftAt is set, and that no delete
// failed.
//
// Nothing that this sender has accepted of a key before is overwritten, or comes after the delete: the key is held
// until it has been confirmed, and shown for Pause. What it accepts of a held key meanwhile waits, for Pause and as
// long as the batch takes, and comes after the delete. Writers that use other senders or processes are seen through
// the index only: a document of theirs that stops matching less than its refresh before the lookup, or between that
// and the delete, is deleted. Where that matters have them stop, or let them write again.
//
// Permissions can hide documents from a search.Rows, with an admin key as well: then no receipt would be true. So the
// definition of the index is read first. If it has permission filters, everything is read elevated, or nothing is
// deleted and the error is search.ErrPartialView. It is too where the definition cannot be read, unless
// search.ClientOptions.AssumeWholeView says that nothing is hidden.
//
// The class of the deletes is models.ClassBestEffort, unless ctx has another. While the sender's breaker is open, or it
// is paused, nothing new is begun, but a batch a minute beside others that are in the sender: it may be the one that
// the service takes. (A sender that meets nothing but refusals waits for one; here until ctx ends, so it should have a
// deadline.) ctx bounds the work: when it ends, deletes that are in no request are taken back, those in one are
// waited for, 5 s at the most, and the receipt says what was deleted; no other is sent later. Calls that run beside
// one another are safe, also of the same filter.
//
// The receipt is never without meaning, whatever the error: one that names every problem of the options, when nothing
// was sent; a *DeletesError in the chain, when nothing was deleted, or nothing over the bound; ErrMatchesLeft; that
// of the scan, of Total or a Lookup; that of ctx; the first delete that failed, a *bufferedsender.ActionError.
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
		err = fmt.Errorf("%w: %w", ended, err) // it had another cause
	}
	if err != nil {
		err = fmt.Errorf("repair: DeleteWhere: %w", err)
	}
	return d.receipt, err
}

// check returns an error that names every problem, and fills in the defaults.
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
		problem(o.Total == nil && o.AllowDeletes == 0, "neither Total nor AllowDeletes says how many documents may be deleted: "+
			"give Total, or do a dry run and give AllowDeletes the number that it has matched")
	}
	problem(o.AllowDeletes < 0, "AllowDeletes is %d", o.AllowDeletes)
	problem(math.IsNaN(o.MaxShare) || o.MaxShare < 0 || o.MaxShare > 1, "MaxShare is %v, not a share from 0 to 1", o.MaxShare)
	problem(o.UntilStable < 0, "UntilStable is %d", o.UntilStable)
	if d.to != nil && !o.DryRun {
		info := d.to.Info()
		problem(info.Queued, "the sender has a Queue, whose keys other processes may send, so it cannot hold them: use a sender of the same index without one, "+
			"or delete the rows where they come from, and append their keys with IndexKeys")
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

// fit chooses how much there is at once: what is in the sender is at most a quarter of its buffer, for which deletes
// of held keys do not wait.
func (d *deletion) fit(buffer int) {
	o := &d.options
	o.batchKeys, o.parallel, o.heldKeys = cmp.Or(o.batchKeys, 500), cmp.Or(o.parallel, 8), cmp.Or(o.heldKeys, 50_000)
	if buffer > 0 {
		o.batchKeys = max(1, min(o.batchKeys, buffer/4))
		o.parallel = max(1, min(o.parallel, buffer/4/o.batchKeys))
	}
	o.batchKeys = max(1, min(o.batchKeys, o.heldKeys))
}

// guard refuses to delete more than the options allow, and says how much that is in all. What it allows is counted for
// the next 24 hours, but for what AllowDeletes asks for.
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
				err = fmt.Errorf("AllowDeletes is %d, and must be exactly what matches: %w", o.AllowDeletes, d.refusal(matched))
			}
		case matched > d.allowed:
			err = d.refusal(matched)
		case !o.DryRun:
			d.charged = matched
			s.add(now, matched, 0)
		}
	})
	return err
}

// settleSpent counts what was deleted in place of what was allowed.
func (d *deletion) settleSpent() {
	if done := max(0, d.receipt.Deleted+d.receipt.Unknown-d.options.AllowDeletes); done != d.charged {
		inProcess(d.index, func(s *spent) { s.add(time.Now(), done-d.charged, 0) })
	}
}

// refusal is the error of a deletion of too many.
func (d *deletion) refusal(n int64) error {
	return &DeletesError{Surplus: n, Deleted: d.spent, Most: d.most, IndexRows: d.rows}
}
