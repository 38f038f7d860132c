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

// How long Run is patient.
const (
	closedLimit  = time.Second            // for which writers are kept waiting at the most
	drainLimit   = 700 * time.Millisecond // of it, behind which there is too little left for the alias
	closings     = 5                      // before Run gives up
	outage       = 30 * time.Second       // for which the store, and a truth that was read before, may fail
	tryLimit     = 10 * time.Second       // that one call of them may take; the record's have less
	stuckLimit   = time.Minute            // for which the new index may take nothing that writers wait for, before it is an error
	countings    = 30                     // of documents, a second between them, until the new index has enough
	mostBreaks   = 10                     // of Fill.All in its midst, behind each of which it is asked to go on
	replayEvery  = 100 * time.Millisecond // while readers may be at the new index already
	lateRequests = 5 * time.Second        // for which a request without an answer may still be carried out, where the sender does not say
	nameRests    = 75 * time.Second       // what was sent to an index that was deleted is applied or refused by then
	dropsKnown   = 10 * time.Minute       // that an index was deleted matters for nameRests; the rest is for clocks that differ
	chunk        = 1000                   // keys whose truth is read at once
	fewKeys      = 500                    // that are few enough to close the taps
)

// term says how a runner shows that it is the owner of the record.
type term struct {
	every    time.Duration // it beats
	valid    time.Duration // it is the owner; its requests are cut off then
	takeOver time.Duration // without a beat, another may be the owner
}

// A request that was cut off is applied or refused before another takes over: UnknownWait is 5 s by default. That is
// soon where writers wait for a Run that was killed; elsewhere a database may be away for half a minute.
var (
	longTerm  = term{2 * time.Second, 45 * time.Second, time.Minute}
	shortTerm = term{time.Second, 5 * time.Second, 11 * time.Second}
)

// term is that of the owner of a record.
func (r Record) term() term {
	if r.Phase == PhaseClosed || r.Phase == PhaseSwapped {
		return shortTerm
	}
	return longTerm
}

// Fill reads the truth: what the documents should be. Both functions are called by one
// goroutine at a time. The example has them for a table.
//
// Run promises what it promises if a read of the truth that begins after the service has applied a write shows
// that write, or something newer. It is so where programs write to a database first and to the index
// then (the outbox, keys in a queue with a Loader). It is not so for a replica that lags, and not for the old
// index, which shows a write some seconds later.
type Fill struct {
	// All yields an upload of every document, as it is when it is read. The order should be that of the keys, and
	// after is the key behind which to begin, "" for all: then a Run that goes on where another was killed need not
	// begin anew. Who cannot do that ignores after. An error ends the iteration: Run asks again, behind the last
	// document that came, ten times at the most, or for half a minute in which none comes. If none has come at all,
	// Run ends at once. ctx bounds it.
	All func(ctx context.Context, after string) iter.Seq2[models.RawAction, error]
	// Keys returns an upload of each document of these keys, at most 1000, as it is now, in any
	// order. A key of which there is none is deleted from the new index. It must be fast, since writers wait
	// for it: a tenth of a second is. After an error it is asked again for half a minute.
	Keys func(ctx context.Context, keys []string) ([]models.RawAction, error)
}

// Sender is what writes to the new index. *bufferedsender.RawSender is one, of a sender without Tap, Queue and Share:
// in one pool with the writers it would wait for slots that they hold while they wait for it.
type Sender interface {
	// Offer accepts actions, the first so many, and waits while there is no room. Each has one
	// outcome, of which OnOutcome is told. Their Until is that of RawAction: an action whose time
	// is up is not sent any more.
	Offer(ctx context.Context, actions []models.RawAction) (accepted int, err error)
	// AddAndWait returns what became of the actions that were accepted, the first so many. The error is nil if all
	// were applied; of one that was not accepted for what it is, it has the method Rejected() bool.
	AddAndWait(ctx context.Context, actions []models.RawAction) ([]models.IndexingResult, error)
}

// Options are the options of Run.
type Options struct {
	// Sender returns what writes to an index, the new one; one with some requests in flight fills faster. Run calls
	// it once, and closes nothing. If it has the Info of a RawSender, Run refuses one that writes to another index or
	// service, has a Queue, or no UnknownWait. Must be given.
	Sender func(index string) (Sender, error)
	// Alias is what readers find the index by: Run moves it. Defaults to none, for services
	// that have no aliases: then Report.Index is the name that readers are to switch to.
	Alias string
	// Writers are the names of all programs that write, by their TapOptions.Writer: Run refuses to
	// begin if one is not registered. It cannot see others. Must be given, unless Alone says
	// that nobody writes while Run is at work.
	Writers []string
	// Alone says that there are no writers.
	Alone bool
	// Always makes a new index also if the definitions do not need one. Defaults to doing
	// nothing then.
	Always bool

	// MinShare is how many documents the new index must have, as a share of what the old one has, or Run ends with
	// ErrTooFew before anything moves: a Fill.All that is cut short without an error must not empty what readers find.
	// Of an index with permission filters all documents are counted, or Run ends with search.ErrPartialView.
	// Defaults to 0.95, and no more than 10 000 fewer: the guard of repair.Options.MaxShare. Negative turns it off.
	MinShare float64

	// Shown reports whether a read through the alias finds the new index. It is asked once a second, after the alias
	// was moved, until it has said so three times in a row, beside what writers wait for. ctx is over after ten
	// seconds, which count as an error; where it gives nothing but errors for five minutes, and as long as Settle,
	// the writers come over all the same. One that does not return when ctx ends may be at work when Run has
	// returned. Defaults to waiting for Settle.
	Shown func(ctx context.Context) (bool, error)
	// Settle is how long readers take to come over to the new index, if Shown does not know; and back, at an Abort.
	// The service says "some seconds". Defaults to a minute; negative turns it off.
	Settle time.Duration
	// Keep is how long the old index is kept after the writers have left it. Defaults to 24 hours; negative turns
	// it off. Nothing is deleted by itself: see DropOld.
	Keep time.Duration
	// Logger gets a line for each step, and before the first one what Run cannot know. Keys only, no
	// documents. Defaults to slog.Default().
	Logger *slog.Logger
}

// Report says what Run has done. After an error it says what was done until then.
type Report struct {
	// Needed is whether a new index was needed, or wanted: if not nothing was done.
	Needed bool
	// Changes are the differences between the definition of the old index and the new one.
	Changes search.IndexChanges
	// Index is the new index, which writers write to when Run has returned nil, and readers find by
	// the alias. Without an alias readers are to switch to it.
	Index string
	// Old is the index that it replaces, "" if there is no need, and KeepUntil when it may be deleted, see DropOld.
	Old       string
	KeepUntil time.Time
	// Filled counts the documents of Fill.All, and Replayed the keys that were read again, each as
	// often as it was, both of this call of Run.
	Filled, Replayed int64
	// OldDocuments and NewDocuments are how many documents the two indexes had when they were counted for
	// Options.MinShare; 0 if they were not.
	OldDocuments, NewDocuments int64
	// Closed are the times for which the writers were kept waiting by this call of Run.
	Closed []time.Duration
	// Writers are those that were registered, among them those that Options.Writers does not have.
	Writers []Writer
}

// RefusedError means that the new index has refused documents, or that Fill returned what is
// no upload. The writers go on with the old index; if the alias was moved already they wait, and the
// error is ErrClosed too. Mend what is wrong and call Run again, or call Abort.
type RefusedError struct {
	// Count is how many it were, and Keys are the keys of the first ten.
	Count int
	Keys  []string
	// Err is what is wrong with the first one.
	Err error
}

// Error implements error.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("rebuild: %d documents are not in the new index, and will not be by themselves (%s): %v", e.Count, strings.Join(e.Keys, ", "), e.Err)
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

// check fills in the defaults. Its error names every problem at once.
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
	missing(len(o.Writers) == 0 && !o.Alone, "Writers is empty: name the programs that write, by their TapOptions.Writer, or say with Alone that nobody writes meanwhile")
	missing(len(o.Writers) > 0 && o.Alone, "Writers are named, and Alone says that there are none: leave out one of the two")
	missing(o.Alias != "" && o.Alias == next.Name, "the new index has the name of the alias: give it another one")
	missing(o.MinShare > 1 || o.MinShare != o.MinShare, "MinShare is a share of the documents of the old index: 1 at the most")
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
