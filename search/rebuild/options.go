package rebuild

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"strings"
	"time"

	"github.com/go-azsearch/azsearch/internal/nilcheck"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

// Defaults of Options.
const (
	defaultSettle = time.Minute
	defaultKeep   = 24 * time.Hour
)

// Timeouts and limits of Run.
const (
	closedLimit  = time.Second            // how long writers wait at most
	drainLimit   = 700 * time.Millisecond // of closedLimit; later too little is left to move the alias
	closings     = 5                      // attempts to close the taps
	outage       = 30 * time.Second       // how long errors of the store, or of a Fill that has worked before, are retried
	tryLimit     = 10 * time.Second       // for one such call, or one of the service; calls that change the record have less
	aliasLimit   = 5 * time.Second        // for a call of the service that writers may wait for
	stuckLimit   = time.Minute            // without a document taken while writers wait; and for CreateIndex
	countings    = 30                     // of documents, one a second, until the new index has enough
	mostBreaks   = 10                     // failures of Fill.All after its first document
	replayEvery  = 100 * time.Millisecond // while readers may be at the new index
	lateRequests = 5 * time.Second        // how long a request without an answer may still be executed, if the sender does not say
	nameRests    = 75 * time.Second       // after this a request to a deleted index is applied or refused
	dropsKnown   = 10 * time.Minute       // longer than nameRests, because clocks differ
	chunk        = 1000                   // keys whose truth is read at once
	fewKeys      = 500                    // few enough to close the taps
)

// term has the timings by which a runner proves that it owns the record.
type term struct {
	every    time.Duration // between beats
	valid    time.Duration // how long a runner is the owner after a beat; then its requests are cut off
	takeOver time.Duration // without a beat another runner may take over
}

// valid plus UnknownWait, 5 s by default, is less than takeOver, so a request that was cut off is applied or refused
// before another runner takes over. The short term applies while writers wait for a Run that may be dead. The long one
// survives half a minute without the database.
var (
	longTerm  = term{2 * time.Second, 45 * time.Second, time.Minute}
	shortTerm = term{time.Second, 5 * time.Second, 11 * time.Second}
)

// term returns the timings for the owner of a record.
func (r Record) term() term {
	if r.Phase == PhaseClosed || r.Phase == PhaseSwapped {
		return shortTerm
	}
	return longTerm
}

// Fill reads the truth: the documents as they should be. Run calls one function at a time.
//
// The guarantees of Run hold if a read of the truth that begins after the service has applied a write shows that write,
// or a newer one. This is the case if programs write to a database first and then to the index (by an outbox, or by
// keys in a queue with a Loader). It is not the case for a lagging replica, nor for the old index, which shows a write
// some seconds later.
type Fill struct {
	// All yields an upload of every document with a key greater than after, "" for all, preferably in key order: then a Run
	// that resumes need not start over. If you cannot order documents, ignore after. All stops after its first error. Run
	// then calls it again behind the last document, at most ten times, or for half a minute without a document; if no
	// document came at all Run ends at once. ctx bounds it.
	All func(ctx context.Context, after string) iter.Seq2[models.RawAction, error]
	// Keys returns an upload of the current document of each key, in any order. Run passes at most 1000 keys. A key without
	// a document is deleted from the new index. Writers wait for Keys, so it should take a tenth of a second at most.
	// Errors are retried for half a minute.
	Keys func(ctx context.Context, keys []string) ([]models.RawAction, error)
}

// Sender writes to the new index. Use the *bufferedsender.RawSender of a sender without Tap, Queue and Share: in one
// pool with the writers, it could wait for slots that writers hold while they wait for it.
type Sender interface {
	// Offer accepts actions in order and waits while there is no room. It returns how many it has accepted. Each accepted
	// action has one outcome, reported to OnOutcome. An action whose Until is over must not be sent any more.
	Offer(ctx context.Context, actions []models.RawAction) (accepted int, err error)
	// AddAndWait returns the outcomes of the actions that were accepted, which are the first ones. The error is nil if all
	// were applied. If an action was refused because of its content, the error has the method Rejected() bool.
	AddAndWait(ctx context.Context, actions []models.RawAction) ([]models.IndexingResult, error)
}

// Options configures Run.
type Options struct {
	// Sender returns the writer to an index; several requests in flight make filling faster. Run calls it once, for the new
	// index, and closes nothing. If the result has the Info of a RawSender, Run refuses one that writes to another index or
	// service, has a Queue, or has no UnknownWait. Required.
	Sender func(index string) (Sender, error)
	// Alias is the alias that readers use; Run moves it. Defaults to none, for services without aliases: Report.Index is
	// then the name that readers must switch to.
	Alias string
	// Writers are the names of all programs that write, as in their TapOptions.Writer. Run refuses to begin if one is not
	// registered. It cannot detect others. Required, unless Alone is set.
	Writers []string
	// Alone declares that no program writes while Run is at work.
	Alone bool
	// Always makes a new index even if the changes of the definition do not need one. By default Run does nothing then.
	Always bool

	// MinShare is the least share of the old index's documents that the new one must have. Otherwise Run returns ErrTooFew
	// before the alias or the writers move, so that a Fill.All that is cut short without an error does not empty search
	// results. In an index with permission filters all documents are counted, or Run returns search.ErrPartialView.
	// Defaults to 0.95, and at most 10 000 documents fewer, like the bound of repair.Options.MaxShare. Negative turns it
	// off.
	MinShare float64

	// Shown reports whether a read through the alias finds the new index. After the alias was moved Run calls it once a
	// second, until it has returned true three times in a row, while copying continues. Its ctx ends after ten seconds,
	// which counts as an error. If there are only errors for five minutes, and at least for Settle, the writers switch
	// anyway. A call that ignores ctx may outlast Run. Defaults to waiting for Settle.
	Shown func(ctx context.Context) (bool, error)
	// Settle is the time for readers to reach the new index if Shown is nil, and to return after an Abort. The service
	// documents "some seconds". Defaults to a minute; negative turns it off.
	Settle time.Duration
	// Keep is how long the old index is kept after the writers have left it. Defaults to 24 hours; negative turns it off.
	// Only DropOld deletes it.
	Keep time.Duration
	// Logger receives a line for each step, and before the first one what Run cannot detect. Lines have keys, not
	// documents. Defaults to slog.Default().
	Logger *slog.Logger
}

// Report is the result of Run. After an error it has what was done until then.
type Report struct {
	// Needed reports whether a new index was needed or forced by Options.Always. If not, nothing was done.
	Needed bool
	// Changes are the differences between the definitions of the old and the new index.
	Changes search.IndexChanges
	// Index is the new index. When Run has returned nil, writers use it, and readers find it by the alias. Without an alias
	// readers must switch to it.
	Index string
	// Old is the replaced index, "" if none was. KeepUntil is when it may be deleted, see DropOld.
	Old       string
	KeepUntil time.Time
	// Filled is the number of documents of Fill.All that were accepted by this call of Run. Replayed is the number of keys
	// read again by it; a key counts each time.
	Filled, Replayed int64
	// OldDocuments and NewDocuments are the numbers of documents counted for Options.MinShare; 0 if they were not counted.
	OldDocuments, NewDocuments int64
	// Closed are the durations for which this call of Run kept the writers waiting.
	Closed []time.Duration
	// Writers are the registered writers, including those not in Options.Writers.
	Writers []Writer
}

// RefusedError means that the new index has refused documents, or that Fill returned an action other than an upload.
// Writers continue with the old index. If the alias was moved already, writers wait and the error also is ErrClosed.
// Correct the problem and call Run again, or call Abort.
type RefusedError struct {
	// Count is the number of documents. Keys are the keys of the first ten.
	Count int
	Keys  []string
	// Err is the error of the first document.
	Err error
}

// Error implements error.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("rebuild: %d documents cannot be written to the new index (%s): %v", e.Count, strings.Join(e.Keys, ", "), e.Err)
}

// Unwrap returns Err.
func (e *RefusedError) Unwrap() error { return e.Err }

// add counts a document.
func (e *RefusedError) add(key string, err error) *RefusedError {
	if e == nil {
		e = &RefusedError{Err: err}
	}
	if e.Count++; len(e.Keys) < 10 {
		e.Keys = append(e.Keys, key)
	}
	return e
}

// check fills in the defaults. Its error names every problem.
func (o *Options) check(store Store, client *search.IndexClient, next models.SearchIndex, fill Fill) error {
	var errs []error
	missing := func(is bool, text string) {
		if is {
			errs = append(errs, errors.New(text))
		}
	}
	missing(nilcheck.IsNil(store), "store is nil: use a *rebuild.SQL that the writers' taps share")
	missing(client == nil, "client is nil: use a *search.IndexClient")
	missing(next.Name == "", "the new definition has no name: give it one that no index has, hotels-2 for example")
	missing(fill.All == nil, "Fill.All is nil: yield all documents")
	missing(fill.Keys == nil, "Fill.Keys is nil: return the documents of keys")
	missing(o.Sender == nil, "Sender is nil: return the Raw of a bufferedsender for an index")
	missing(len(o.Writers) == 0 && !o.Alone, "Writers is empty: name the programs that write, by their TapOptions.Writer, or set Alone if no program writes meanwhile")
	missing(len(o.Writers) > 0 && o.Alone, "Writers and Alone are both set: leave one out")
	missing(o.Alias != "" && o.Alias == next.Name, "the new index has the name of the alias: give it another one")
	missing(o.MinShare > 1 || o.MinShare != o.MinShare, "MinShare is a share of the documents of the old index: use at most 1")
	if o.Settle == 0 {
		o.Settle = defaultSettle
	}
	if o.Keep == 0 {
		o.Keep = defaultKeep
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return errors.Join(errs...)
}
