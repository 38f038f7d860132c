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

// Status is the state of a rebuild.
type Status struct {
	// Record is shared by the writers and the rebuild. Its Step is the progress.
	Record Record
	// Active reports whether a rebuild was begun and has neither ended nor been aborted. If a Run is at work,
	// Record.Version grows at least every two seconds.
	Active bool
	// Writers are the registered writers.
	Writers []Writer
}

// ReadStatus returns the state of the rebuild on a store. It changes nothing.
func ReadStatus(ctx context.Context, store Store) (Status, error) {
	if nilcheck.IsNil(store) {
		return Status{}, errors.New("rebuild: ReadStatus needs the store of the rebuild, and it is nil")
	}
	store = returning(store)
	record, err := store.Load(ctx)
	if err != nil {
		return Status{}, err
	}
	writers, err := store.Writers(ctx)
	return Status{Record: record, Active: record.active(), Writers: writers}, err
}

// AbortOptions configures Abort. nil and the zero value are ready to use.
type AbortOptions struct {
	// Logger is as in Options.
	Logger *slog.Logger

	settle time.Duration // 0 for that of the rebuild; tests change it
}

// Abort ends a rebuild at any step and deletes the new index. The writers continue with the old index, which has all
// their writes, so nothing is lost. If the alias was moved, Abort moves it back first and keeps the new index for
// Options.Settle of the Run, until readers have returned. In the first step Run cannot have written documents, so an
// index of the new name that has some belongs to another program and is kept. A Run at work stops with ErrTakenOver. If
// Abort is killed or returns an error, call it again. A later Run that uses the same index name waits first, because
// the sender of an earlier Run may still write to it.
//
// When the writers have moved to the new index, Abort is too late and returns ErrNothing, because the old index lacks
// later writes. ErrAliasMoved means that another program moved the alias: the rebuild is ended, but the new index is
// kept.
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
	for range 10 { // a beat of the owner may come in between
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
		if found.Step == stepCreating { // the index may be another program's: a new index of Run is still empty
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
	// Readers may use the new index: the alias was moved, by Run or by hand, or a request to move it was sent, or an
	// earlier Abort that did not end has moved it back.
	moved := found.Step == stepSwapping || found.Step == stepSettling || found.Step == stepMoving || found.Step == stepAborting && found.Alias != ""
	if x.Alias != "" {
		if err := r.line("alias back"); err != nil {
			return err
		}
		err = r.patientlyFor(ctx, bearable, 0, func(ctx context.Context) (again bool, err error) { // the writers may wait
			atNew, err := r.aliasBack(ctx)
			moved = moved || atNew
			return errors.As(err, new(passing)), err
		})
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
		x.drop(found.New) // once, so that a repeated swap writes the same time
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

// aliasBack points the alias at the old index. It writes the alias even if it points there, so that a stopped Run
// cannot move it with an older ETag. atNew reports whether it found the alias at the new index.
func (r *runner) aliasBack(ctx context.Context) (atNew bool, err error) {
	x := r.now()
	for range 10 {
		alias, err := r.aliasAt(ctx, x.Alias, x.Old, x.New)
		if err != nil {
			return atNew, err
		}
		atNew = atNew || alias.Indexes[0] == x.New
		if err := r.stillOwner(ctx); err != nil { // if this Abort was stopped here, the alias may belong to the next rebuild of the same index name
			return atNew, err
		}
		alias.Indexes = []string{x.Old}
		if err = r.writeAlias(ctx, alias); !errors.Is(err, search.ErrPreconditionFailed) {
			return atNew, passes(err)
		}
	}
	return atNew, fmt.Errorf("rebuild: the alias %q keeps changing: %w", x.Alias, ErrAliasMoved)
}

// clean deletes the new index when no reader can use it, and the marks.
func (r *runner) clean(ctx context.Context, drop, wait bool) error {
	x := r.now()
	if drop {
		if settle := cmp.Or(r.opts.Settle, x.Settle, defaultSettle); wait && settle > 0 {
			r.opts.Logger.Info("rebuild: waiting for readers of the new index", "index", x.New, "wait", settle)
			if err := sleep.For(ctx, settle); err != nil {
				return err
			}
		}
		if err := r.patiently(ctx, 0, func(ctx context.Context) (again bool, err error) {
			err = deleteIndex(ctx, r.client, x.New, func() error { return r.stillOwner(ctx) })
			return errors.As(err, new(passing)), err
		}); err != nil {
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

// deleteIndex deletes an index that claim has found deletable; claim changes the record. If another program deletes the
// index meanwhile, and a Run creates a new one of that name, either the ETag differs or claim fails.
func deleteIndex(ctx context.Context, client *search.IndexClient, name string, claim func() error) error {
	there, missing := getIndex(ctx, client, name)
	if missing != nil && !errors.Is(missing, search.ErrIndexNotFound) {
		return passes(missing)
	}
	if err := claim(); err != nil || missing != nil {
		return err
	}
	var opts search.DeleteIndexOptions
	if etag := azcore.ETag(there.ETag); etag != "" {
		opts.IfMatch = &etag
	}
	limited, cancel := context.WithTimeout(ctx, tryLimit)
	defer cancel()
	err := client.DeleteIndex(limited, name, &opts)
	if errors.Is(err, search.ErrPreconditionFailed) { // also if the index is missing, for example after an attempt whose answer was lost
		if _, now := getIndex(ctx, client, name); errors.Is(now, search.ErrIndexNotFound) {
			return nil
		}
	}
	if errors.Is(err, search.ErrIndexNotFound) {
		return nil
	}
	return passes(err)
}

// DropOptions configures DropOld. nil and the zero value are ready to use.
type DropOptions struct {
	// Now deletes the index before its time.
	Now bool
}

// DropOld deletes the index that a rebuild has replaced, once Options.Keep is over. Before that the error names the
// time. ErrNothing means that there is no such index, ErrAliasMoved that the alias points at it again. A later Run that
// uses the same index name waits first, because a writer's request may be under way. If you create such an index
// yourself, wait for two minutes.
func DropOld(ctx context.Context, store Store, client *search.IndexClient, opts *DropOptions) error {
	if nilcheck.IsNil(store) || client == nil {
		return errors.New("rebuild: DropOld needs the store and the client of the rebuild, and one is nil")
	}
	store = returning(store)
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
		return fmt.Errorf("rebuild: the index %q is kept until %v, for another %v: call DropOld again then, or set DropOptions.Now", x.Old, x.KeepUntil, x.KeepUntil.Sub(now).Round(time.Second))
	}
	if x.Alias != "" {
		alias, err := getAlias(ctx, client, x.Alias)
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
