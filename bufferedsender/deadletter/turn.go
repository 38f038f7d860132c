package deadletter

import (
	"fmt"

	"github.com/go-azsearch/azsearch/models"
)

// A thousand dead letters that are still refused must not keep later ones from being tried. So after a call that the
// sender has ended early, Replay tries the next ones one by one, and continues if one is applied. If that fails too it
// ends, and the next Replay of the index begins behind them, and tries them at the end.

// position is the place of a dead letter.
type position struct {
	stem string
	n    int64
}

// stop returns the place behind which a Replay of an index has ended early, if it has.
func (p *walk) stop(index string) (last position) {
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	for _, stem := range p.stems {
		if j, err := readJournal(p.f.dir, stem); err == nil && j.stop[index] > 0 {
			last = position{stem, j.stop[index]}
		}
	}
	return last
}

// setStop records n as the stop of an index in the file of a place. Without it the next Replay begins with the first
// dead letter, so an error does not matter.
func (p *walk) setStop(at position, index string, n int64) {
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	if _, there := p.f.sizes[at.stem]; !there {
		return
	}
	if j, err := readJournal(p.f.dir, at.stem); err == nil && j.stop[index] != n {
		_ = p.f.record(at.stem, entry{Stop: []stop{{n, index}}}) // without it the next Replay begins with the first
	}
}

// due reports whether a dead letter has its turn in this pass: first those behind the stop, except later ones of a key
// before it; then the rest.
func (r *replay) due(stem string, rec *record) bool {
	if r.from.stem == "" {
		return true
	}
	hash := r.hash(rec.Key)
	behind := stem > r.from.stem || stem == r.from.stem && rec.N > r.from.n
	if !behind && !r.around {
		r.earlier[hash] = struct{}{}
	}
	_, earlier := r.earlier[hash]
	return r.around == (!behind || earlier)
}

// room returns how many dead letters the next window may have: one while the sender takes the index for the cause of
// refusals, because it tries one document at a time then.
func (r *replay) room() int {
	if r.withdrawns > 0 {
		return 1
	}
	if known, ok := r.to.(models.InfoSender); ok && known.Info().Held != nil {
		return 1
	}
	return r.options.maxActions
}

// tookBack holds the keys of a call that the sender has ended early. An error ends the Replay.
func (r *replay) tookBack(w *window, round []letter, results []models.IndexingResult, err error) error {
	for i, l := range round {
		r.stop = position{w.stem, l.place.n}
		if i >= len(results) || !results[i].Succeeded {
			r.held[r.hash(l.Key)] = struct{}{}
		}
	}
	if r.withdrawn == nil {
		r.withdrawn = err
	}
	if r.withdrawns++; r.withdrawns > r.options.maxAlone {
		return errWithdrawn
	}
	return nil
}

// endedEarly returns an error if the sender has ended a call early.
func (r *replay) endedEarly() error {
	if r.withdrawn == nil {
		return nil
	}
	return fmt.Errorf("the sender has ended a call early: %w", r.withdrawn)
}
