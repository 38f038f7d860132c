package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/tuning"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/amount"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/apply"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/connect"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/definitions"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/exit"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/keyrange"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/sink"
	"github.com/go-azsearch/azsearch/internal/sleep"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/rebuild"
)

// lateRequests is how long the service may still execute a request of an apply that was killed.
const lateRequests = 5 * time.Second

// rebuilding is one rebuild of apply -fill. It is the truth of rebuild.Run: it reads the old index, to which nothing
// writes. That is not certain, so Run is stopped before it moves the alias, as often as a comparison finds differences.
type rebuilding struct {
	*serviceCall
	*apply.Rebuilding
	next    models.SearchIndex
	before  models.SearchIndex
	copied  []string        // the fields that both indexes have
	old     *keyrange.Index // with the fields that both indexes return
	new     *keyrange.Index
	unseen  bool // copied has fields that new does not return
	store   *gate
	sender  *bufferedsender.BufferedSender[struct{}]
	claimed string       // the ETag of the alias that says so
	written atomic.Int64 // documents passed to the sender
}

// rebuild carries out a rebuild. late is an error if documents of the old index have changed too late to be copied.
func (c *serviceCall) rebuild(ctx context.Context, r *apply.Rebuilding, next models.SearchIndex) (late, err error) {
	b := &rebuilding{serviceCall: c, Rebuilding: r, next: next}
	if err := b.open(ctx); err != nil {
		if exit.Code(err) == exit.Usage {
			err = connect.Failed(err)
		}
		return nil, err
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), lateRequests)
		defer cancel()
		_ = b.sender.Close(closing) // Run has the outcome of each document
		if err != nil {
			err = b.explained(ctx, err)
		}
	}()
	began := time.Now()
	stop := progress(c.stderr, false, func() string { return share(b.written.Load(), r.Documents, "copied", began) })
	defer stop()
	for try := 1; ; try++ {
		if _, err := b.run(ctx); !errors.Is(err, errCompare) {
			return nil, err
		}
		keys, foreign, err := b.differing(ctx)
		switch {
		case err != nil:
			return nil, err
		case len(keys) == 0 && foreign == nil:
			return b.move(ctx)
		case try == looks && foreign != nil:
			return nil, foreign
		case try == looks:
			return nil, failed(fmt.Errorf("%q keeps changing, such as key %q: stop the writers", r.From, keys[0]))
		}
		// Some are copied for nothing, because the new index shows documents some seconds after it has them.
		if err := b.store.mark(ctx, keys); err != nil {
			return nil, err
		}
		if err := sleep.For(ctx, time.Duration(try)*time.Second); err != nil {
			return nil, err
		}
	}
}

// move moves the alias. Then it compares both indexes again: programs that have written to the old one were late.
func (b *rebuilding) move(ctx context.Context) (late, err error) {
	b.store.open = true
	report, err := b.run(ctx)
	if err != nil {
		return nil, err
	}
	b.note("copied to %s: %s; %s has %s", b.To, amount.Of(b.written.Load(), "document"), b.From, humanize.Comma(report.OldDocuments))
	for look := 1; ; look++ {
		keys, foreign, err := b.differing(ctx)
		if err != nil || len(keys) == 0 && foreign == nil {
			return nil, err
		}
		if look == looks {
			return fmt.Errorf("alias %q has moved, and %q and %q differ in %s: writers were at work; azsearch verify %[2]s %[3]s shows where, azsearch repair -index %[3]s corrects it from the source",
				b.Alias, b.From, b.To, amount.Of(max(len(keys), 1), "document")), nil
		}
		if err := sleep.For(ctx, time.Duration(look)*time.Second); err != nil {
			return nil, err
		}
	}
}

// open opens both indexes, a sender to the new one, and the store, with the state that the service shows.
func (b *rebuilding) open(ctx context.Context) error {
	err := b.claim(ctx)
	if exit.Code(err) == exit.Incomplete {
		return err
	}
	var d *definitions.Definition
	if err == nil {
		d, err = definitions.Index(ctx, b.service, b.From)
	}
	if err == nil {
		err = json.Unmarshal(d.JSON, &b.before)
	}
	if err == nil && b.Exists {
		b.next, err = b.service.GetIndex(ctx, b.To, nil)
	}
	if err != nil {
		return connect.Failed(err)
	}
	var compared []string
	b.copied, compared = common(b.before.Fields, b.next.Fields)
	b.unseen = len(compared) < len(b.copied) || slices.ContainsFunc(keyrange.Hidden(b.next.Fields), func(path string) bool {
		top, _, nested := strings.Cut(path, "/")
		return nested && slices.Contains(b.copied, top)
	})
	client, err := b.service.Client(b.To)
	if err != nil {
		return err
	}
	if b.new, err = keyrange.Of(client, &b.next, search.Filter{}, compared); err != nil {
		return err
	}
	if b.old, err = b.reading(search.Filter{}, compared); err != nil {
		return err
	}
	b.old.ReadAhead, b.new.ReadAhead = 4, 4
	if err := reached(ctx, b.old, b.From); err != nil {
		return err
	}
	state := rebuild.Record{Phase: rebuild.PhaseIdle, Route: b.From, Endpoint: b.service.Endpoint(), IdleValid: time.Second}
	if b.Exists { // by an earlier apply, whose state is gone: the filling begins again, and finds what is there
		if err := b.resumable(ctx); err != nil {
			return err
		}
		state.Phase, state.Step, state.Old, state.New, state.Alias = rebuild.PhaseMarking, rebuild.StepFilling, b.From, b.To, b.Alias
		state.Epoch, state.Round, state.Made = 1, 1, b.next.ETag
	}
	b.store = &gate{Memory: rebuild.NewMemory(), mine: b.mine, moving: func() {
		b.note("alias %s names %s now; waiting %v for its readers and writers", b.Alias, b.To, b.Duration("settle"))
	}}
	if _, err := b.store.Memory.Swap(ctx, state); err != nil {
		return err
	}
	b.sender, err = bufferedsender.New(client, &bufferedsender.Options[struct{}]{
		Documents:         bufferedsender.Documents[struct{}]{Key: func(struct{}) string { return "" }}, // each action carries its key
		Limits:            bufferedsender.Limits{MaxInFlight: 16},
		AutoFlushInterval: time.Second, // Run does not flush the last documents
		Tuning:            tuning.Adaptive(nil),
		Logger:            slog.New(slog.DiscardHandler),
	})
	return err
}

// reading returns the old index for reading fields of the documents that match a filter.
func (b *rebuilding) reading(filter search.Filter, fields []string) (*keyrange.Index, error) {
	client, err := b.service.Client(b.From)
	if err != nil {
		return nil, err
	}
	return keyrange.Of(client, &b.before, filter, fields)
}

// common returns the fields that both indexes have and the first one returns, and those of them that both return.
func common(from, to []models.SearchField) (copied, compared []string) {
	for _, f := range to {
		if slices.ContainsFunc(from, func(old models.SearchField) bool { return old.Name == f.Name && returned(&old) }) {
			if copied = append(copied, f.Name); returned(&f) {
				compared = append(compared, f.Name)
			}
		}
	}
	return copied, compared
}

// resumable waits for late requests of an earlier apply. An index that a file defines may have documents from
// elsewhere: unless each is equal to that of the old index, nothing is written.
func (b *rebuilding) resumable(ctx context.Context) error {
	if err := sleep.For(ctx, lateRequests); err != nil {
		return err
	}
	if _, foreign, err := b.differing(ctx); err != nil || foreign != nil {
		return errors.Join(err, foreign)
	}
	if !b.unseen {
		return nil
	}
	n, err := b.new.Count(ctx)
	if err == nil && n > 0 {
		return failed(fmt.Errorf("%q has %s, and fields that the service does not return, so they cannot be compared: if an earlier apply has made it, delete it and run it again: %s",
			b.To, amount.Of(n, "document"), b.dropping(b.To)))
	}
	return err
}

// foreign is the error for a document of the new index that is not from the old one.
func (b *rebuilding) foreign(key string) error {
	return failed(fmt.Errorf("%q has another document than %q for key %q: fill it yourself and leave -fill out; or if an earlier apply has made it, delete it and run it again: %s",
		b.To, b.From, key, b.dropping(b.To)))
}

// errCompare stops Run when it would move the alias next.
var errCompare = errors.New("both indexes must be compared first")

// run calls rebuild.Run. Until the store is open it ends with errCompare at best.
func (b *rebuilding) run(ctx context.Context) (rebuild.Report, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	b.store.stop = func() { stop(errCompare) }
	b.store.taken = stop
	go b.guard(ctx, stop)
	go func() { // ends with ctx
		wait := sink.Patience{For: 10 * time.Minute}
		for sleep.For(ctx, time.Second) == nil {
			if err := wait.Over(time.Now(), b.sender); err != nil {
				stop(err)
			}
		}
	}()
	settle := b.Duration("settle")
	if settle == 0 {
		settle = -1 // 0 is the default of Run
	}
	report, err := rebuild.Run(ctx, b.store, b.service.IndexClient, b.next, rebuild.Fill{All: b.all, Keys: b.documents}, rebuild.Options{
		Sender: func(string) (rebuild.Sender, error) { return b.sender.Raw(), nil },
		Alias:  b.Alias, Alone: true, Always: true, Settle: settle, Logger: slog.New(slog.DiscardHandler),
	})
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	if errors.Is(err, rebuild.ErrTooFew) {
		err = failed(fmt.Errorf("%q has %s, %q has %d", b.To, amount.Of(report.NewDocuments, "document"), b.From, report.OldDocuments))
	}
	return report, err
}

// explained says in an error where the alias is.
func (b *rebuilding) explained(ctx context.Context, err error) error {
	if errors.Is(err, errTaken) {
		return fmt.Errorf("alias %q: %w", b.Alias, err)
	}
	var refused *rebuild.RefusedError
	if errors.As(err, &refused) {
		err = failed(fmt.Errorf("%s cannot be written to %q, such as %q: %w", amount.Of(refused.Count, "document"), b.To, refused.Keys, refused.Err))
	} else if errors.Is(err, rebuild.ErrAliasMoved) {
		err = failed(err)
	}
	where := fmt.Errorf("alias %q still names %q; the next run continues", b.Alias, b.From)
	if b.store.moved.Load() {
		where = fmt.Errorf("alias %q may name %q already: if so, azsearch verify %s %s shows writes that are missing", b.Alias, b.To, b.From, b.To)
	}
	if ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	if exit.Code(err) == exit.Usage { // it has no code yet
		err = connect.Failed(err)
	}
	return errors.Join(err, where)
}

// all yields the documents of the old index. It leaves out those that are in the new one already, if that existed.
func (b *rebuilding) all(ctx context.Context, after string) iter.Seq2[models.RawAction, error] {
	return func(yield func(models.RawAction, error) bool) {
		if b.Exists && !b.unseen {
			for d, err := range b.differ(ctx, after) {
				if (err != nil || d.document != nil) && !yield(b.upload(d.key, d.document), err) {
					return
				}
			}
			return
		}
		source, err := b.reading(search.Filter{}, b.copied)
		if err != nil {
			yield(models.RawAction{}, err)
			return
		}
		source.ReadAhead = 4
		for document, err := range b.entries(keyrange.Whole(ctx), source, after) {
			if !yield(b.upload(document.key, document.json), err) {
				return
			}
		}
	}
}

func (b *rebuilding) upload(key string, document json.RawMessage) models.RawAction {
	b.written.Add(1)
	return models.RawAction{Key: key, Type: models.ActionTypeUpload, Document: document}
}

// documents returns the present documents of keys.
func (b *rebuilding) documents(ctx context.Context, keys []string) (all []models.RawAction, err error) {
	var filter search.Filter
	if b.old.Unscannable == "" { // otherwise the key may not be filterable
		filter = search.In(b.old.Key(), keys...)
	}
	source, err := b.reading(filter, b.copied)
	if err != nil {
		return nil, err
	}
	for document, err := range b.entries(keyrange.Whole(ctx), source, "") {
		if err != nil {
			return nil, err
		}
		if slices.Contains(keys, document.key) {
			all = append(all, b.upload(document.key, document.json))
		}
	}
	return all, nil
}

// differing returns the keys whose documents differ. foreign is an error if the new index has others for some, which
// may not be replaced; their keys are left out.
func (b *rebuilding) differing(ctx context.Context) (keys []string, foreign, err error) {
	for d, err := range b.differ(ctx, "") {
		switch {
		case err != nil:
			return nil, nil, err
		case !d.there || !b.Exists:
			keys = append(keys, d.key)
		case foreign == nil:
			foreign = b.foreign(d.key)
		}
	}
	return keys, foreign, nil
}

// dropping returns a command that deletes an index. azsearch has none.
func (c *serviceCall) dropping(index string) string {
	at := fmt.Sprintf("%s/indexes('%s')?api-version=%s", strings.TrimRight(c.service.Endpoint(), "/"), index, c.String("api-version"))
	if c.service.WithKey {
		return fmt.Sprintf(`curl -X DELETE -H "api-key: $%s" "%s"`, connect.KeyVariable, at)
	}
	return fmt.Sprintf(`az rest --method delete --resource https://search.azure.com --url "%s"`, at)
}

// gate is the store of a rebuild. It is in memory: no other process takes part, and after a kill the service shows what
// is left to do. While it is not open, Run can do everything but close the taps, which it does before it moves the
// alias.
type gate struct {
	*rebuild.Memory
	mine   func(context.Context) error
	taken  context.CancelCauseFunc // called with the error of mine
	open   bool                    // changed between two calls of Run only
	stop   func()                  // called instead of closing
	moving func()                  // called when the alias has moved, then nil
	moved  atomic.Bool             // the alias may have moved
}

// Swap implements rebuild.Store.
func (g *gate) Swap(ctx context.Context, next rebuild.Record) (rebuild.Record, error) {
	if next.Phase == rebuild.PhaseClosed && !g.open {
		g.stop()
		return rebuild.Record{}, errCompare
	}
	if next.Phase == rebuild.PhaseClosed {
		g.moved.Store(true)
	}
	if g.moving != nil && next.Phase != rebuild.PhaseSwapped { // it has not moved
		if err := g.mine(ctx); err != nil {
			g.taken(err)
			return rebuild.Record{}, err
		}
	}
	got, err := g.Memory.Swap(ctx, next)
	if err == nil && next.Phase == rebuild.PhaseSwapped && g.moving != nil {
		g.moving()
		g.moving = nil
	}
	return got, err
}

// mark has Run copy the documents of keys again.
func (g *gate) mark(ctx context.Context, keys []string) error {
	now, err := g.Load(ctx)
	if err == nil {
		_, err = g.Mark(ctx, now.Epoch, keys)
	}
	return err
}
