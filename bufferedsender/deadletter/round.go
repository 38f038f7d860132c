package deadletter

import (
	"bytes"
	"errors"
	"time"

	"github.com/go-azsearch/azsearch/internal/disk"
	"github.com/go-azsearch/azsearch/models"
)

// window is a part of a file in memory.
type window struct {
	stem    string
	journal *journal
	letters []letter // oldest first
	bytes   int64
	room    int // how many it may have
	// outdated are the numbers of those that the index has in a newer version.
	outdated []int64
}

// `letter` is a dead letter to send.
type letter struct {
	Letter
	place *place
}

func (w *window) add(l letter) {
	w.letters = append(w.letters, l)
	w.bytes += int64(len(l.Document) + len(l.Key) + len(l.Message) + len(l.Error))
}

// round removes and returns the oldest dead letter of each key in the window.
func (w *window) round() []letter {
	var round, rest []letter
	keys := make(map[string]struct{}, len(w.letters))
	for _, l := range w.letters {
		if _, taken := keys[l.Key]; taken {
			rest = append(rest, l)
			continue
		}
		keys[l.Key] = struct{}{}
		round = append(round, l)
	}
	w.letters = rest
	return round
}

// send empties the window, round by round. An error ends the Replay.
func (r *replay) send(w *window) error {
	for len(w.letters)+len(w.outdated) > 0 {
		var round []letter
		for _, l := range w.round() {
			if r.isHeld(l.Key) { // held since it was put into the window
				r.skip(l.Letter, ErrHeld)
				continue
			}
			if r.outdated(w.stem, &record{N: l.place.n, Letter: l.Letter}) { // since it was put into the window
				w.outdated = append(w.outdated, l.place.n)
				continue
			}
			round = append(round, l)
		}
		if err := r.walk.record(w.stem, w.journal, entry{Done: w.outdated}); err != nil {
			return err
		}
		r.report.Outdated += len(w.outdated)
		w.outdated = nil
		for len(round) > 0 {
			n, err := r.call(w, round)
			if err != nil {
				return err
			}
			round = round[n:]
		}
	}
	w.bytes = 0
	return nil
}

// call passes dead letters of different keys to the sender and records their outcomes. n is the number handled: all, or
// fewer if the sender did not accept one. An error ends the Replay.
func (r *replay) call(w *window, round []letter) (n int, err error) {
	if err := r.walk.err(); err != nil {
		return 0, err
	}
	actions := make([]models.RawAction, len(round))
	for i, l := range round {
		actions[i] = models.RawAction{Key: l.Key, Type: l.Action, Document: l.place.sent, Tag: l.place}
		if bytes.Equal(l.place.sent, l.Document) { // otherwise the document is newer than the version
			actions[i].Version = l.Version
		}
	}
	results, sendErr := r.to.AddAndWait(r.walk.ctx, actions)
	results = results[:min(len(results), len(round))]
	ended, takenBack := r.walk.err(), errors.Is(sendErr, models.ErrWithdrawn)

	var e entry
	var failed []int     // positions in round
	var applied []Letter // with a version
	for i, result := range results {
		l := &round[i]
		r.report.Sent++
		switch {
		case result.Succeeded || sendErr == nil:
			r.withdrawns = 0
			e.Done = append(e.Done, l.place.n)
			r.report.Delivered++
			if l.Version != 0 {
				applied = append(applied, Letter{Endpoint: r.info.Endpoint, Index: r.index, Key: l.Key, Version: l.Version})
			}
		case (ended != nil || takenBack) && result.StatusCode == 0 && !r.walk.recorded(l.place):
			// Under way, or not sent. If it fails later, Write gets it.
		default:
			failed = append(failed, i)
			r.report.Failed++
			if !r.walk.recorded(l.place) {
				e.Again = append(e.Again, refusalOf(l.place.n, l.place.letter, r.reason(result)))
			}
		}
	}
	// First the older ones of their keys, or a crash in between leaves those to be sent.
	if len(applied) > 0 {
		if err := r.walk.f.applied(applied); err != nil && !disk.Full(err) { // settle tries again
			return 0, err
		}
	}
	if err := r.walk.record(w.stem, w.journal, e); err != nil {
		return 0, err
	}
	if r.walk.owes(w.stem) {
		for _, l := range round {
			r.owed = append(r.owed, l.Key)
		}
	}
	for _, i := range failed {
		r.keep(round[i].Letter, &RefusedError{Result: results[i]})
	}
	if ended != nil {
		return 0, ended
	}
	if takenBack {
		return len(round), r.tookBack(w, round, results, sendErr)
	}
	return r.accepted(round, len(results), sendErr)
}

// accepted skips the first dead letter that the sender did not accept, if there is one. err is the reason.
func (r *replay) accepted(round []letter, accepted int, err error) (n int, ends error) {
	if accepted > 0 {
		r.inARow = 0
	}
	if accepted == len(round) {
		return accepted, nil
	}
	if err == nil { // a Sender that breaks its contract
		err = errNoResult
	}
	r.skip(round[accepted].Letter, err)
	if unencodable(err) {
		return accepted + 1, nil
	}
	if r.refused == 0 {
		r.refusedBy = err
	}
	r.refused++
	if ofDocument(err) {
		return accepted + 1, nil
	}
	if r.inARow++; r.inARow >= refusedInARow {
		r.stop = position{round[accepted].place.stem, round[accepted].place.n}
		return 0, errGivenUp
	}
	return accepted + 1, nil
}

// unencodable reports whether a sender did not accept a document because of its content. A missing key does not count,
// because the sender may look for it in the wrong field.
func unencodable(err error) bool {
	return errors.As(err, new(*models.EncodeError)) && !errors.Is(err, models.ErrNoKey)
}

// refuser is the error of a sender that knows whether the document is the cause, as *bufferedsender.AddError.
type refuser interface{ Rejected() bool }

// ofDocument reports whether a sender blames the document, which may be too large for a request: it accepts others.
func ofDocument(err error) bool {
	var refused refuser
	return errors.As(err, &refused) && refused.Rejected() && !errors.Is(err, models.ErrNoKey)
}

// reason returns the reason for a result: without an answer only that the action may have been applied.
func (r *replay) reason(result models.IndexingResult) Letter {
	l := Letter{Status: result.StatusCode, Message: result.ErrorMessage, Attempts: 1, Last: time.Now()}
	if l.Unknown = l.Status == 0; !l.Unknown {
		l.Error = (&RefusedError{Result: result}).Error()
	}
	if r.walk.f.options.Redact {
		l = redact(l)
	}
	return l
}
