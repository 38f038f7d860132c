package deadletter

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"

	"github.com/go-azsearch/azsearch/internal/nilcheck"
	"github.com/go-azsearch/azsearch/models"
)

// Sender is the part of a sender that Replay needs: the Raw method of any bufferedsender.BufferedSender returns one.
type Sender interface {
	// AddAndWait sends actions and returns their outcomes in order. Without an error all were applied. With an error it
	// returns the results of the accepted actions, which are the first ones; those with Succeeded were applied. It sends
	// documents unchanged, and keeps the order of the actions of a key across calls. If models.ErrWithdrawn is in the chain
	// of the error, the sender has ended the call early: actions whose result has no status are then not sent any more.
	AddAndWait(ctx context.Context, actions []models.RawAction) ([]models.IndexingResult, error)
}

// Bounds of the dead letters in memory and in the sender at once, by number and bytes. A single larger one is sent
// anyway.
const (
	replayActions = 1000
	replayBytes   = 8 << 20
)

// ReplayOptions configures Replay. nil and the zero value are ready to use.
type ReplayOptions struct {
	// Select reports whether to send a dead letter. Defaults to all. One that is not selected stays, and holds later ones
	// of its key; so select by index and key rather than by time or status.
	Select func(l Letter) bool
	// Document returns the JSON of the document to send: the dead letter's own, corrected, or the current document of its
	// key from the source. The latter is also the way to replay redacted ones. It must have the same key. For a delete only
	// the key is sent. After an error the dead letter stays. If the document is refused, the dead letter keeps its own.
	// Defaults to its own, or ErrRedacted if that was redacted and the action is not a delete.
	Document func(ctx context.Context, l Letter) (json.RawMessage, error)
	// Kept is called for each dead letter that stays, with the reason: ErrRedacted, ErrNotSelected, ErrHeld, *RefusedError,
	// the error of Document, or the error of a sender that did not accept it. It is called for damaged lines too, with a
	// zero value and a *DamagedError. It is not called for those that Replay did not reach, or whose outcome it did not
	// await. Defaults to none.
	Kept func(l Letter, why error)

	maxActions int // 0 for replayActions, replayBytes and refusedInARow; tests lower them
	maxBytes   int64
	maxAlone   int
}

// withDefaults returns a copy of o with every default filled in.
func (o *ReplayOptions) withDefaults() ReplayOptions {
	var c ReplayOptions
	if o != nil {
		c = *o
	}
	if c.Select == nil {
		c.Select = func(Letter) bool { return true }
	}
	if c.Document == nil {
		c.Document = ownDocument
	}
	if c.Kept == nil {
		c.Kept = func(Letter, error) {}
	}
	c.maxActions, c.maxBytes = cmp.Or(c.maxActions, replayActions), cmp.Or(c.maxBytes, replayBytes)
	c.maxAlone = cmp.Or(c.maxAlone, refusedInARow)
	return c
}

// ownDocument is the default of ReplayOptions.Document.
func ownDocument(_ context.Context, l Letter) (json.RawMessage, error) {
	if l.Document == nil && l.Action != models.ActionTypeDelete {
		return nil, ErrRedacted
	}
	return l.Document, nil
}

// Report has the counts of a Replay for its index.
type Report struct {
	// Sent is the number that the sender has accepted: Delivered, Failed, and those without a known outcome when Replay
	// returned.
	Sent int
	// Delivered is the number that were applied. They are removed.
	Delivered int
	// Failed is the number that were refused again. They stay with the newer reason.
	Failed int
	// Skipped is the number that stay unsent, and of damaged lines.
	Skipped int
	// OtherIndexes is the number passed over because they belong to another index or service.
	OtherIndexes int
	// Outdated is the number not sent because the index has a document with a higher version: another dead letter of the
	// key was delivered, or a sender has applied a newer action of it. They are removed.
	Outdated int
}

// Replay sends the dead letters of an index again, unchanged, oldest first, and removes those that are applied. The
// others stay in their place. index is the name of the sender's index; another name is an error. Dead letters of
// another service stay; to move them, write copies without Endpoint to a File and discard the originals. to is the Raw
// of a bufferedsender.BufferedSender of any type.
//
// The dead letters of a key are sent in order, each after the previous one was applied. If one stays, later ones
// of its key stay too: see ErrHeld. Those written meanwhile are left for the next Replay.
//
// An old dead letter overwrites newer documents of its key, unless their versions are known: see the comment of the
// package. If there may be some, read the current document in ReplayOptions.Document.
//
// A nil error means that each dead letter was treated as the Report counts. When ctx ends or the File is closed, Replay
// returns the cause without waiting for actions under way. It also returns early when the sender does not accept ten
// dead letters in a row without blaming the documents, or withdraws a call, as it does if it takes the index for the
// cause of refusals, and then ten dead letters one by one; the problem is not corrected yet. The next Replay of the
// index begins behind those, so that all have their turn, and then comes to the first ones. What was not known to be
// applied stays, and is sent again: at least once, never lost. The error is ErrBusy if another Replay or Discard is
// running.
//
// The sender may have f as its sink and other users. It must not have another File as its sink, which would keep the
// refused dead letters too. Its handlers receive events of these actions with an empty document, and with a Tag of
// Replay instead of the original one. Functions in opts are called on the calling goroutine.
func Replay(ctx context.Context, f *File, index string, to Sender, opts *ReplayOptions) (Report, error) {
	if nilcheck.IsNil(to) {
		return Report{}, errors.New("deadletter: sender is nil: use the Raw of a BufferedSender")
	}
	var info models.SenderInfo
	if known, ok := to.(models.InfoSender); ok {
		info = known.Info()
	}
	if info.IndexName != "" && info.IndexName != index {
		return Report{}, fmt.Errorf("deadletter: dead letters of index %q through a sender of %q: got two indexes, want one; use a sender of %[1]q", index, info.IndexName)
	}
	options := opts.withDefaults()
	p, err := f.beginWalk(ctx)
	if err != nil {
		return Report{}, err
	}
	defer p.end()
	r := &replay{
		walk: p, options: options, index: index, to: to, info: info,
		seed: maphash.MakeSeed(), held: make(map[uint64]struct{}), earlier: make(map[uint64]struct{}),
	}
	var errs []error
	if r.from = p.stop(index); r.from.stem != "" {
		errs = r.pass()
	}
	if !r.over {
		p.setStop(r.from, index, 0)
		r.around = true
		errs = append(errs, r.pass()...)
	}
	if r.over && r.stop.stem != "" {
		if r.from.stem != r.stop.stem {
			p.setStop(r.from, index, 0) // only the last one counts
		}
		p.setStop(r.stop, index, r.stop.n)
	}
	err = p.settle()
	return r.report, errors.Join(append(errs, r.endedEarly(), r.notAccepted(), err)...)
}

// pass replays all files once. Errors have ended it, or are those of rewriting.
func (r *replay) pass() (errs []error) {
	p := r.walk
	for _, stem := range p.stems {
		err := r.file(stem)
		if err == nil {
			err = p.err()
		}
		if err != nil {
			errs, r.over = append(errs, err), true
			break
		}
		if err := p.rewrite(stem); err != nil {
			errs = append(errs, err) // the dead letters are intact anyway
		}
		if r.holdOwed(stem); p.unsure == stem && p.owes(stem) {
			r.over = true
			break // which keys are owed is not known
		}
	}
	return errs
}

// replay is one call of Replay.
type replay struct {
	walk    *walk
	options ReplayOptions
	index   string
	to      Sender
	info    models.SenderInfo // of to; empty if unknown
	report  Report

	from    position            // where the last Replay ended early
	earlier map[uint64]struct{} // hashes of the keys of dead letters up to from
	around  bool                // those behind from were replayed; now the others, and what these held
	over    bool                // no further dead letter is sent

	seed maphash.Seed
	held map[uint64]struct{} // hashes of the keys of dead letters that stay

	owed []string // keys of delivered dead letters of a file; used if their outcome is not recorded

	refused   int   // dead letters that the sender did not accept
	inARow    int   // consecutive ones
	refusedBy error // error of the first

	withdrawn  error    // of the first call that the sender has ended early
	withdrawns int      // such calls since something was applied
	stop       position // the last dead letter of a call that was withdrawn
}

// refusedInARow is how many dead letters the sender may refuse in a row. More suggest that the sender is at fault: it
// is closed, or does not know the key field.
const refusedInARow = 10

// file replays one file. An error ends the Replay.
func (r *replay) file(stem string) error {
	j, err := r.walk.journal(stem)
	if err != nil {
		return err
	}
	w := window{stem: stem, journal: &j}
	for rec, err := range recordsOf(r.walk.f.dir, stem, &j) {
		if damaged := (*DamagedError)(nil); errors.As(err, &damaged) {
			if r.around {
				r.report.Skipped++
				r.options.Kept(Letter{}, err)
			}
			continue
		}
		if errors.Is(err, fs.ErrNotExist) {
			r.walk.forget(stem)
			return nil
		}
		if err != nil {
			return err
		}
		if rec.Index != r.index || !r.info.At(rec.Endpoint) {
			if r.around {
				r.report.OtherIndexes++
			}
			continue
		}
		if !r.due(stem, &rec) {
			continue
		}
		if err := r.walk.err(); err != nil {
			return err
		}
		if !r.take(&w, rec) {
			continue
		}
		if len(w.letters) >= w.room || w.bytes >= r.options.maxBytes {
			if err := r.send(&w); err != nil {
				return err
			}
		}
	}
	return r.send(&w)
}

// take puts a record into the window, or skips it.
func (r *replay) take(w *window, rec record) bool {
	if r.isHeld(rec.Key) {
		r.skip(rec.Letter, ErrHeld)
		return false
	}
	if !r.options.Select(rec.Letter) {
		r.skip(rec.Letter, ErrNotSelected)
		return false
	}
	if r.outdated(w.stem, &rec) {
		w.outdated = append(w.outdated, rec.N)
		return false
	}
	document, err := r.options.Document(r.walk.ctx, rec.Letter)
	if err != nil {
		r.skip(rec.Letter, err)
		return false
	}
	p := &place{file: r.walk.f, stem: w.stem, n: rec.N, letter: rec.Letter, sent: document}
	p.letter.Document = nil
	if len(w.letters) == 0 {
		w.room = r.room()
	}
	w.add(letter{Letter: rec.Letter, place: p})
	return true
}

// holdOwed holds the keys of dead letters whose delivery is not recorded: they may be sent again, and would overwrite
// later ones.
func (r *replay) holdOwed(stem string) {
	if r.walk.owes(stem) {
		for _, key := range r.owed {
			r.held[r.hash(key)] = struct{}{}
		}
	}
	r.owed = nil
}

// skip counts a dead letter that stays unsent.
func (r *replay) skip(l Letter, why error) {
	r.report.Skipped++
	r.keep(l, why)
}

// keep holds the key of a dead letter that stays, and reports the reason.
func (r *replay) keep(l Letter, why error) {
	r.held[r.hash(l.Key)] = struct{}{}
	r.options.Kept(l, why)
}

func (r *replay) isHeld(key string) bool {
	_, held := r.held[r.hash(key)]
	return held
}

// outdated reports whether the index has a newer version.
func (r *replay) outdated(stem string, rec *record) bool {
	if rec.Version == 0 {
		return false
	}
	newest := max(rec.Newer, r.walk.f.versions.newest(document{rec.Index, rec.Key}, stem, rec.N))
	if r.info.Applied != nil {
		newest = max(newest, r.info.Applied(rec.Key))
	}
	return rec.Version < newest
}

func (r *replay) hash(key string) uint64 { return maphash.String(r.seed, key) }

// notAccepted returns an error if the sender did not accept dead letters.
func (r *replay) notAccepted() error {
	if r.refused == 0 {
		return nil
	}
	return fmt.Errorf("the sender did not accept %d dead letters, the first because: %w", r.refused, r.refusedBy)
}
