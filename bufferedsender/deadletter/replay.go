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

// Sender is what Replay needs of a sender: the Raw method of any
// bufferedsender.BufferedSender returns one.
type Sender interface {
	// AddAndWait sends actions and returns what became of them, in their order.
	// Without an error all of them were applied. With one it returns the results of
	// those that it has accepted, which are the first ones; one with Succeeded was
	// applied. It sends the documents as they are, and keeps the order of the actions
	// of a key that are given to it one call after another. models.ErrWithdrawn in the
	// chain of the error says that it has ended the call early: results without a status
	// are then of actions that it does not send any more.
	AddAndWait(ctx context.Context, actions []models.RawAction) ([]models.IndexingResult, error)
}

// How many dead letters, and of which size in bytes, are in memory and given to
// the sender at once. A single larger one is sent anyway.
const (
	replayActions = 1000
	replayBytes   = 8 << 20
)

// ReplayOptions configures Replay. nil and the zero value are ready to use.
type ReplayOptions struct {
	// Select says which letters to send. Defaults to all. A letter that is not
	// selected stays, and holds those behind it of the same key; so select by
	// index and key rather than by time or status.
	Select func(l Letter) bool
	// Document returns the JSON of the document to send for a letter: its own,
	// mended, or what the source of the documents says of the key by now. The
	// latter is also the way to replay redacted letters. It must have the key of
	// the letter. Of a delete only the key is sent, whatever the document. After an
	// error the letter stays. If the document is refused, the letter keeps the one
	// it had. Defaults to the letter's own, and to ErrRedacted if it was redacted,
	// unless the letter is about a delete.
	Document func(ctx context.Context, l Letter) (json.RawMessage, error)
	// Kept is told of each letter that stays and why: ErrRedacted,
	// ErrNotSelected, ErrHeld, *RefusedError, the error of Document, or of the
	// sender if it did not accept it; and of damaged lines, with an empty letter
	// and a *DamagedError. Not of letters to which Replay did not get, or whose
	// outcome it did not wait for. Defaults to nobody.
	Kept func(l Letter, why error)

	maxActions int // 0 for replayActions and replayBytes; tests lower them
	maxBytes   int64
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
	return c
}

// ownDocument is the default of ReplayOptions.Document.
func ownDocument(_ context.Context, l Letter) (json.RawMessage, error) {
	if l.Document == nil && l.Action != models.ActionTypeDelete {
		return nil, ErrRedacted
	}
	return l.Document, nil
}

// Report says what Replay has done with the letters of its index.
type Report struct {
	// Sent is how many the sender has accepted: Delivered, Failed, and those
	// whose outcome was not known when Replay had to return.
	Sent int
	// Delivered is how many were applied. They are no letters any more.
	Delivered int
	// Failed is how many were refused again. They stay, with the newer reason.
	Failed int
	// Skipped is how many stay without having been sent, and damaged lines.
	Skipped int
	// OtherIndexes is how many were passed over because they are of another index, or of
	// one of that name at another service.
	OtherIndexes int
	// Outdated is how many were not sent because the index has a document with a higher
	// Letter.Version: another letter of the key was delivered, or the sender has applied
	// it since it wrote a letter of the key. They are no letters any more.
	Outdated int
}

// Replay sends the letters of an index again, as they are, oldest first, and
// removes those that are applied. The others stay, in their place. index is
// Letter.Index, which is the name of the sender's index; the error says so if it is
// another one. Letters of another service stay: to move them, write them without
// Endpoint to a File, and then discard them. Of a
// bufferedsender.BufferedSender, whatever its type, to is what Raw returns.
//
// The letters of a key are sent one after the other, each when the one before
// was applied. If one stays, so do those behind it of the same key: see ErrHeld.
// Letters that come in meanwhile are left for the next Replay.
//
// A letter that was given up long ago replaces what has since been written
// with the same key. Where that may be, let ReplayOptions.Document read the
// document again.
//
// A nil error means that each letter was dealt with as the Report says. When ctx
// ends or the File is closed, Replay returns the cause without waiting for what
// is under way; so it does when ten letters in a row are not accepted, and when the
// sender ends a call early, as it does after three probes while it holds the index to
// be the cause of refusals: then nothing is mended yet. What was
// not known to be applied is then still there and is sent again by the next
// Replay: at least once, never lost. The error is ErrBusy if a Replay or Discard
// is going on.
//
// The sender to may have f as its sink, and be in use by others. It must not have
// another File as its sink, which would keep the refused letters too. Its
// handlers are told of the actions as of any other; their document is empty, and
// their Tag is Replay's, not the one of the action that was given up. The functions
// in opts are called on the goroutine of the caller.
func Replay(ctx context.Context, f *File, index string, to Sender, opts *ReplayOptions) (Report, error) {
	if nilcheck.IsNil(to) {
		return Report{}, errors.New("deadletter: sender is nil: use the Raw of a BufferedSender")
	}
	var info models.SenderInfo
	if known, ok := to.(models.InfoSender); ok {
		info = known.Info()
	}
	if info.IndexName != "" && info.IndexName != index {
		return Report{}, fmt.Errorf("deadletter: letters of index %q through a sender of %q: got two indexes, want one; use a sender of %[1]q", index, info.IndexName)
	}
	options := opts.withDefaults()
	p, err := f.beginWalk(ctx)
	if err != nil {
		return Report{}, err
	}
	defer p.end()
	r := &replay{
		walk: p, options: options, index: index, to: to, info: info,
		seed: maphash.MakeSeed(), held: make(map[uint64]struct{}), newest: make(map[string]int64),
	}
	var errs []error
	for _, stem := range p.stems {
		err := r.file(stem)
		if err == nil {
			err = p.err()
		}
		if err != nil {
			errs = append(errs, err)
			break
		}
		if err := p.rewrite(stem); err != nil {
			errs = append(errs, err) // the letters are all right all the same
		}
		if r.holdOwed(stem); p.unsure == stem && p.owes(stem) {
			break // which keys it is about is not known
		}
	}
	_, err = p.settle()
	return r.report, errors.Join(append(errs, r.notAccepted(), err)...)
}

// replay is one call of Replay.
type replay struct {
	walk    *walk
	options ReplayOptions
	index   string
	to      Sender
	info    models.SenderInfo // of to, empty if it is not known
	report  Report

	seed maphash.Seed
	held map[uint64]struct{} // hashes of the keys of letters that stay
	// newest has the version of the newest letter of a key that was delivered, if that has one.
	newest map[string]int64

	owed []string // keys of letters of a file that were delivered, which is not recorded

	refused   int   // letters that the sender did not accept
	inARow    int   // of them, without an accepted one in between
	refusedBy error // why the first was not
}

// refusedInARow is how many letters the sender may refuse to accept one after
// the other before it is no longer the letters that are to blame: it is closed,
// or knows no key field.
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
			r.report.Skipped++
			r.options.Kept(Letter{}, err)
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
			r.report.OtherIndexes++
			continue
		}
		if err := r.walk.err(); err != nil {
			return err
		}
		if !r.take(&w, rec) {
			continue
		}
		if len(w.letters) >= r.options.maxActions || w.bytes >= r.options.maxBytes {
			if err := r.send(&w); err != nil {
				return err
			}
		}
	}
	return r.send(&w)
}

// take puts a letter into the window, or skips it.
func (r *replay) take(w *window, rec record) bool {
	if r.isHeld(rec.Key) {
		r.skip(rec.Letter, ErrHeld)
		return false
	}
	if !r.options.Select(rec.Letter) {
		r.skip(rec.Letter, ErrNotSelected)
		return false
	}
	document, err := r.options.Document(r.walk.ctx, rec.Letter)
	if err != nil {
		r.skip(rec.Letter, err)
		return false
	}
	p := &place{file: r.walk.f, stem: w.stem, n: rec.N, letter: rec.Letter, sent: document}
	p.letter.Document = nil
	w.add(letter{Letter: rec.Letter, place: p})
	return true
}

// holdOwed holds the keys of letters that were delivered, and may be sent again: what is behind
// them would be undone.
func (r *replay) holdOwed(stem string) {
	if r.walk.owes(stem) {
		for _, key := range r.owed {
			r.held[r.hash(key)] = struct{}{}
		}
	}
	r.owed = nil
}

// skip keeps a letter that was not sent.
func (r *replay) skip(l Letter, why error) {
	r.report.Skipped++
	r.keep(l, why)
}

// keep notes that a letter stays.
func (r *replay) keep(l Letter, why error) {
	r.held[r.hash(l.Key)] = struct{}{}
	r.options.Kept(l, why)
}

func (r *replay) isHeld(key string) bool {
	_, held := r.held[r.hash(key)]
	return held
}

// outdated reports whether the index has a newer version than that of a letter.
func (r *replay) outdated(l Letter) bool {
	newest := r.newest[l.Key]
	if r.info.Applied != nil {
		newest = max(newest, r.info.Applied(l.Key))
	}
	return l.Version != 0 && l.Version < newest
}

func (r *replay) hash(key string) uint64 { return maphash.String(r.seed, key) }

// notAccepted says that letters were not accepted by the sender.
func (r *replay) notAccepted() error {
	if r.refused == 0 {
		return nil
	}
	return fmt.Errorf("the sender did not accept %d letters, the first because: %w", r.refused, r.refusedBy)
}
