package rebuild

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/go-azsearch/azsearch/internal/nilcheck"
	"github.com/go-azsearch/azsearch/internal/sleep"
	"github.com/go-azsearch/azsearch/search"
)

// Status is how a rebuild is.
type Status struct {
	// Record is what the writers and the rebuild share. Its Step says how far it is.
	Record Record
	// Active says that a rebuild is under way: it was begun, and neither ended nor aborted. Whether
	// somebody is at work on it shows if Record.Version grows, every two seconds.
	Active bool
	// Writers are those that are registered.
	Writers []Writer
}

// ReadStatus returns how the rebuild on a store is. It changes nothing.
func ReadStatus(ctx context.Context, store Store) (Status, error) {
	if nilcheck.IsNil(store) {
		return Status{}, errors.New("rebuild: ReadStatus needs the store of the rebuild, and it is nil")
	}
	record, err := store.Load(ctx)
	if err != nil {
		return Status{}, err
	}
	writers, err := store.Writers(ctx)
	return Status{Record: record, Active: record.active(), Writers: writers}, err
}

// AbortOptions are the options of Abort. nil and the zero value are ready to use.
type AbortOptions struct {
	// Logger is as in Options.
	Logger *slog.Logger

	settle time.Duration // 0 for that of the rebuild; tests change it
}

// Abort ends a rebuild, at whatever step it is, and deletes the new index. A Run that gives its index the same
// name soon after waits for a while, because the sender of one that was cut off may still write to it. The writers
// go on with the old one, which they have written to all the time, so nothing is lost; an alias that was moved is
// moved back first, and the new index is kept for Options.Settle of the Run, until readers have come back. An
// index of the new name that has documents although Run cannot have written any yet is somebody else's, and stays.
// A Run that is at work stops with ErrTakenOver. If Abort is killed or returns an error, call it again.
//
// When the writers have moved to the new index it is too late, and the error is ErrNothing: the old one lacks what
// was written since. ErrAliasMoved means that somebody else has moved the alias: the rebuild is ended all the
// same, but the new index is not deleted.
func Abort(ctx context.Context, store Store, client *search.IndexClient, opts *AbortOptions) error {
	if nilcheck.IsNil(store) || client == nil {
		return errors.New("rebuild: Abort needs the store and the client of the rebuild, and one is nil")
	}
	r := newRunner(store, client)
	if opts == nil {
		opts = &AbortOptions{}
	}
	r.opts.Settle, r.opts.Logger = opts.settle, opts.Logger
	if r.opts.Logger == nil {
		r.opts.Logger = slog.Default()
	}
	return r.abort(ctx)
}

func (r *runner) abort(ctx context.Context) error {
	var err error
	var found Record
	for range 10 { // the owner's beat may come between
		if found, err = r.load(ctx); err != nil {
			return err
		}
		if err := found.of(r.client); err != nil {
			return err
		}
		if found.Step == StepMoved {
			return fmt.Errorf("%w: the writers have moved to %q, and %q lacks what was written since", ErrNothing, found.New, found.Old)
		}
		if !found.active() {
			return ErrNothing
		}
		index := found.New
		if found.Step == stepCreating { // it may be somebody else's: what a Run has made has nothing in it yet
			if n, err := r.count(ctx, index); n > 0 {
				index = ""
			} else if err != nil && !errors.Is(err, search.ErrIndexNotFound) {
				return err
			}
		}
		if err = r.take(ctx, found, func(x *Record) { x.Step, x.New = stepAborting, index }); !errors.Is(err, ErrRunning) {
			break
		}
	}
	if err != nil {
		return err
	}
	x := r.now()
	var strange error
	// Readers may be at the new index: the alias was moved, or somebody has asked for it, or an Abort that has not
	// ended has moved it back.
	moved := found.Step == stepSwapping || found.Step == stepSettling || found.Step == stepMoving || found.Step == stepAborting && found.Alias != ""
	if x.Alias != "" {
		if err := r.line("alias back"); err != nil {
			return err
		}
		err = r.aliasBack(ctx)
		if errors.Is(err, ErrAliasMoved) || errors.Is(err, search.ErrAliasNotFound) {
			strange = err
		} else if err != nil {
			return err
		}
	}
	if err := r.line("open"); err != nil {
		return err
	}
	if x.Phase != PhaseIdle {
		epoch, round := x.Epoch+1, x.Round+1
		if err := r.insist(ctx, func(x *Record) { x.Phase, x.Epoch, x.Round = PhaseIdle, epoch, round }); err != nil {
			return err
		}
	}
	if err := r.line("clean"); err != nil {
		return err
	}
	if err := r.clean(ctx, strange == nil && x.New != "", moved); err != nil {
		return err
	}
	x = r.now()
	if found.New != "" {
		x.drop(found.New) // once: the time is to be the same if the swap is made twice
	}
	dropped := x.Dropped
	if err := r.swap(ctx, func(x *Record) {
		x.Dropped = dropped
		x.Step, x.Old, x.New, x.Alias, x.Owner = StepNone, "", "", "", ""
	}); err != nil {
		return err
	}
	return strange
}

// aliasBack points the alias at the old index. It is written also if it is there, so that a Run that was stopped
// before its own request cannot move it any more.
func (r *runner) aliasBack(ctx context.Context) error {
	x := r.now()
	for range 10 {
		alias, err := r.aliasAt(ctx, x.Alias, x.Old, x.New)
		if err != nil {
			return err
		}
		if err := r.stillOwner(ctx); err != nil { // an Abort that was stopped here may find the alias of the next rebuild, whose index has the same name
			return err
		}
		alias.Indexes = []string{x.Old}
		if _, err = r.client.CreateOrUpdateAlias(ctx, alias, nil); !errors.Is(err, search.ErrPreconditionFailed) {
			return err
		}
	}
	return fmt.Errorf("rebuild: the alias %q keeps changing: %w", x.Alias, ErrAliasMoved)
}

// clean deletes the new index, when no reader can be at it, and the marks.
func (r *runner) clean(ctx context.Context, drop, wait bool) error {
	x := r.now()
	if drop {
		if wait {
			if err := sleep.For(ctx, cmp.Or(r.opts.Settle, x.Settle, defaultSettle)); err != nil {
				return err
			}
		}
		if err := deleteIndex(ctx, r.client, x.New, func() error { return r.stillOwner(ctx) }); err != nil {
			return fmt.Errorf("rebuild: deleting the new index: %w", err)
		}
	}
	for {
		keys, err := r.marked(ctx, x.Round)
		if err != nil || len(keys) == 0 {
			return err
		}
		if err := r.unmark(ctx, x.Round, keys); err != nil {
			return err
		}
	}
}

// deleteIndex deletes an index, if it is still the one that is there when claim, which changes the record, has found
// that it is to be deleted: somebody else may have deleted it meanwhile, and a Run have made another one of its name.
// That one has another ETag, or claim fails.
func deleteIndex(ctx context.Context, client *search.IndexClient, name string, claim func() error) error {
	there, missing := client.GetIndex(ctx, name, nil)
	if missing != nil && !errors.Is(missing, search.ErrIndexNotFound) {
		return missing
	}
	if err := claim(); err != nil || missing != nil {
		return err
	}
	var opts search.DeleteIndexOptions
	if etag := azcore.ETag(there.ETag); etag != "" {
		opts.IfMatch = &etag
	}
	err := client.DeleteIndex(ctx, name, &opts)
	if errors.Is(err, search.ErrPreconditionFailed) { // also where there is none, after an attempt whose answer was lost for example
		if _, now := client.GetIndex(ctx, name, nil); errors.Is(now, search.ErrIndexNotFound) {
			return nil
		}
	}
	if errors.Is(err, search.ErrIndexNotFound) {
		return nil
	}
	return err
}

// DropOptions are the options of DropOld. nil and the zero value are ready to use.
type DropOptions struct {
	// Now deletes it although it was to be kept for longer.
	Now bool
}

// DropOld deletes the index that a rebuild has replaced, when the time is over for which it was to be kept. Before
// that the error says when it is. ErrNothing means that there is none, and ErrAliasMoved that somebody has put the
// alias back to it. A Run that gives its index the same name soon after waits for a while, because a request of a
// writer may be on its way; who makes one in another way should wait for a minute or two.
func DropOld(ctx context.Context, store Store, client *search.IndexClient, opts *DropOptions) error {
	if nilcheck.IsNil(store) || client == nil {
		return errors.New("rebuild: DropOld needs the store and the client of the rebuild, and one is nil")
	}
	x, err := store.Load(ctx)
	if err != nil {
		return err
	}
	if err := x.of(client); err != nil {
		return err
	}
	if x.Step != StepMoved {
		return ErrNothing
	}
	if now := time.Now(); (opts == nil || !opts.Now) && now.Before(x.KeepUntil) {
		return fmt.Errorf("rebuild: the index %q is kept until %v, for another %v: come again then, or use DropOptions.Now", x.Old, x.KeepUntil, x.KeepUntil.Sub(now).Round(time.Second))
	}
	if x.Alias != "" {
		alias, err := client.GetAlias(ctx, x.Alias, nil)
		if err != nil && !errors.Is(err, search.ErrAliasNotFound) {
			return noAlias(x.Alias, err)
		}
		if err == nil && slices.Contains(alias.Indexes, x.Old) {
			return fmt.Errorf("rebuild: the alias %q is at %q again, so readers use it: %w", x.Alias, x.Old, ErrAliasMoved)
		}
	}
	if err := deleteIndex(ctx, client, x.Old, func() (err error) {
		x.Beat++
		x, err = store.Swap(ctx, x)
		return err
	}); err != nil {
		return fmt.Errorf("rebuild: deleting the old index: %w", err)
	}
	x.drop(x.Old)
	x.Step, x.Old, x.New, x.Alias, x.Owner = StepNone, "", "", "", ""
	_, err = store.Swap(ctx, x)
	return err
}
