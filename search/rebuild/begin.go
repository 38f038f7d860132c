package rebuild

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/internal/sleep"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/search"
)

// start checks whether a rebuild is needed and possible. It changes nothing, except that it creates the record of an
// index without writers.
func (r *runner) start(ctx context.Context) (Record, error) {
	found, err := r.store.Load(ctx)
	if err != nil {
		return found, err
	}
	if found.Version == 0 {
		if !r.opts.Alone || r.opts.Alias == "" {
			return found, errors.New("rebuild: no writer has made a Tap on this store, so the index of the writers is unknown: start the writers first, see NewTap")
		}
		alias, err := getAlias(ctx, r.client, r.opts.Alias)
		if err != nil {
			return found, noAlias(r.opts.Alias, err)
		}
		if len(alias.Indexes) != 1 {
			return found, fmt.Errorf("rebuild: the alias %q is at %q: point it at the index to replace", r.opts.Alias, alias.Indexes)
		}
		if found, err = begin(ctx, r.store, Record{Phase: PhaseIdle, Route: alias.Indexes[0], Endpoint: r.client.Endpoint()}); err != nil {
			return found, err
		}
	}
	if err := found.of(r.client); err != nil {
		return found, err
	}
	if r.report.Writers, err = r.store.Writers(ctx); err != nil {
		return found, err
	}
	if found.active() {
		r.report.Needed = true
		return found, r.goesOn(ctx, found)
	}
	return found, r.begins(ctx, found)
}

// goesOn checks that the rebuild under way is the one of this call.
func (r *runner) goesOn(ctx context.Context, found Record) error {
	r.report.Old, r.report.Index = found.Old, found.New
	if found.Step == stepAborting {
		return errors.New("rebuild: an Abort was begun and has not ended: call Abort again")
	}
	if found.New != r.next.Name || found.Alias != r.opts.Alias {
		return fmt.Errorf("rebuild: another one from %q to %q with the alias %q is under way (%s): finish it with the same options, or call Abort", found.Old, found.New, found.Alias, found.Step)
	}
	if found.Step != stepCreating {
		if _, err := r.sameDefinition(ctx); err != nil {
			return err
		}
	}
	r.opts.Logger.Info("rebuild: resumed", "step", string(found.Step), "old", found.Old, "new", found.New)
	return nil
}

// getIndex returns the definition of an index. A request whose answer never comes is given up.
func getIndex(ctx context.Context, client *search.IndexClient, name string) (models.SearchIndex, error) {
	limited, cancel := context.WithTimeout(ctx, tryLimit)
	defer cancel()
	return client.GetIndex(limited, name, nil)
}

// getAlias is getIndex for an alias.
func getAlias(ctx context.Context, client *search.IndexClient, name string) (models.Alias, error) {
	limited, cancel := context.WithTimeout(ctx, tryLimit)
	defer cancel()
	return client.GetAlias(limited, name, nil)
}

// sameDefinition checks that the new index has the wanted definition, and returns its ETag.
func (r *runner) sameDefinition(ctx context.Context) (etag string, err error) {
	there, err := getIndex(ctx, r.client, r.next.Name)
	if err != nil {
		return "", fmt.Errorf("rebuild: reading the definition of the new index: %w", passes(err))
	}
	changes, err := search.DiffIndex(there, r.next)
	if err != nil {
		return "", fmt.Errorf("rebuild: %w", err)
	}
	if changes.Kind() != search.ChangeNone {
		return "", fmt.Errorf("rebuild: the index %q exists with another definition (%v): finish with that definition, or call Abort and start over", r.next.Name, changes)
	}
	return there.ETag, nil
}

// begins checks whether a rebuild is needed, and whether it can begin.
func (r *runner) begins(ctx context.Context, found Record) error {
	old := found.Route
	r.report.Old = old
	if found.Step == StepMoved && r.next.Name == found.Old {
		return fmt.Errorf("rebuild: the index %q of the previous rebuild is kept until %v: choose another name for the new one", found.Old, found.KeepUntil)
	}
	if r.opts.Alias != "" && old == r.opts.Alias {
		return fmt.Errorf("rebuild: the writers use the alias %q as their index: set TapOptions.Index to an index, and make all taps on a store of another name", old)
	}
	before, err := getIndex(ctx, r.client, old)
	if err != nil {
		return fmt.Errorf("rebuild: reading the definition of the index to replace: %w", err)
	}
	after := r.next
	after.Name = before.Name // the name is not part of the comparison
	if r.report.Changes, err = search.DiffIndex(before, after); err != nil {
		return fmt.Errorf("rebuild: %w", err)
	}
	if !r.opts.Always && r.report.Changes.Kind() != search.ChangeNeedsRebuild {
		r.report.Index, r.report.Old = old, "" // it must not be deleted
		return nil
	}
	r.report.Index, r.report.Needed = r.next.Name, true
	var errs []error
	if found.Step == StepMoved {
		errs = append(errs, fmt.Errorf("rebuild: the index %q of the previous rebuild is still kept: delete it with DropOld first", found.Old))
	}
	if _, err := getIndex(ctx, r.client, r.next.Name); err == nil {
		errs = append(errs, fmt.Errorf("rebuild: the index %q exists already: choose a name that no index has", r.next.Name))
	} else if !errors.Is(err, search.ErrIndexNotFound) {
		errs = append(errs, fmt.Errorf("rebuild: looking for an index of the new name: %w", err))
	}
	if r.opts.Alias != "" {
		if _, err := r.aliasAt(ctx, r.opts.Alias, old); err != nil {
			errs = append(errs, err)
		}
	}
	registered := make([]string, len(r.report.Writers))
	for i, w := range r.report.Writers {
		registered[i] = w.Name
	}
	for _, w := range r.opts.Writers {
		if !slices.Contains(registered, w) {
			errs = append(errs, fmt.Errorf("rebuild: the writer %q has made no Tap on this store, so its writes would be missing; registered are %q", w, registered))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	r.namesNoAlias(ctx, old)
	if at, known := found.Dropped[r.next.Name]; known && time.Since(at) < dropsKnown {
		r.opts.Logger.Info("rebuild: waiting for late requests to the deleted index", "index", r.next.Name, "deleted", at, "wait", nameRests)
		if err := sleep.For(ctx, nameRests); err != nil {
			return err
		}
	}
	r.opts.Logger.Info("rebuild: begun; writes without a Tap get lost", // even by a process without a tap whose writer is registered
		"old", old, "new", r.next.Name, "alias", r.opts.Alias, "writers", r.opts.Writers, "registered", registered)
	return nil
}

// namesNoAlias warns if Options.Alias is missing although an alias points at the old index.
func (r *runner) namesNoAlias(ctx context.Context, old string) {
	if r.opts.Alias != "" {
		return
	}
	limited, cancel := context.WithTimeout(ctx, tryLimit)
	defer cancel()
	for alias, err := range r.client.ListAliases(limited, nil) {
		if err != nil { // a service without aliases, or without an answer
			return
		}
		if slices.Contains(alias.Indexes, old) {
			r.opts.Logger.Warn("rebuild: alias stays at the old index; set Options.Alias", "alias", alias.Name, "old", old)
		}
	}
}

// checkSender checks that the sender writes to the new index and is suited, as far as its Info shows.
func (r *runner) checkSender() error {
	s, can := r.sender.(models.InfoSender)
	if !can {
		return nil
	}
	var errs []error
	info := s.Info()
	if here := r.client.Endpoint(); !info.At(here) {
		errs = append(errs, fmt.Errorf("it writes to the service %s, and the indexes are at %s: make it with the Client of the IndexClient that Run has", info.Endpoint, here))
	}
	if info.IndexName != "" && info.IndexName != r.next.Name {
		errs = append(errs, fmt.Errorf("it writes to %q: make it with a client of %q, the index passed to the function, and without a Tap", info.IndexName, r.next.Name))
	}
	if info.Queued {
		errs = append(errs, errors.New("it has a Queue, so other processes may write its actions at any time: make one without"))
	}
	if info.UnknownWait <= 0 {
		errs = append(errs, errors.New("its UnknownWait is turned off, so a request without an answer could overwrite newer documents: leave UnknownWait out"))
	}
	if len(errs) > 0 {
		return fmt.Errorf("rebuild: the sender of Options.Sender cannot be used: %w", errors.Join(errs...))
	}
	return nil
}

// create creates the new index. An existing one may be left from an earlier attempt, because there was none when the
// step began. A request whose answer never comes is given up: the next Run finds what it has created.
func (r *runner) create(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, stuckLimit) // analyzers may take the service some time
	defer cancel()
	there, err := r.client.CreateIndex(limited, r.next, nil)
	made := there.ETag
	if err != nil {
		var status retry.StatusError
		code := 0
		if errors.As(err, &status) {
			code = status.HTTPStatus()
		}
		if code == 409 {
			made, err = r.ours(ctx)
		} else {
			err = fmt.Errorf("rebuild: creating the new index: %w", err)
		}
		// Other client errors are final, as in package retry; ours handles a conflict.
		if code >= 400 && code < 500 && code != 408 && code != 409 && code != 429 && r.missing(ctx) {
			// Nothing was begun. If the step were kept, an index that another program creates later under that name would count as
			// ours.
			err = errors.Join(err, r.swap(ctx, func(x *Record) { x.Step, x.Old, x.New, x.Alias, x.Owner = StepNone, "", "", "", "" }))
		}
		if err != nil {
			return err
		}
	}
	if err := r.line("created"); err != nil {
		return err
	}
	epoch, round := r.now().Epoch+1, r.now().Round+1
	return r.swap(ctx, func(x *Record) {
		x.Step, x.Phase, x.Epoch, x.Round, x.Made = stepMarking, PhaseMarking, epoch, round, made
	})
}

// missing reports whether the service certainly has no index of the new name.
func (r *runner) missing(ctx context.Context) bool {
	_, err := getIndex(ctx, r.client, r.next.Name)
	return errors.Is(err, search.ErrIndexNotFound)
}

// ours returns the ETag of the existing index, and an error unless it can be from this rebuild, which has written no
// documents yet.
func (r *runner) ours(ctx context.Context) (etag string, err error) {
	if etag, err = r.sameDefinition(ctx); err != nil {
		return "", err
	}
	n, err := r.count(ctx, r.next.Name)
	if err == nil && n > 0 {
		err = fmt.Errorf("rebuild: index %q (%d documents) was not created by this rebuild; call Abort (keeps it) and choose another name", r.next.Name, n)
	}
	return etag, err
}
