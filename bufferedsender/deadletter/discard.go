package deadletter

import (
	"context"
	"errors"
	"io/fs"
)

// Discard removes the dead letters for which give returns true, and returns their number. Use it for those that must
// never be sent again.
//
// Dead letters removed before an error or the end of ctx stay removed. A damaged line stays: repair or remove it by
// hand while no File is open. The error is ErrBusy if another Replay or Discard is running, and ErrClosed if the File
// is closed before or meanwhile.
func (f *File) Discard(ctx context.Context, give func(Letter) bool) (int, error) {
	p, err := f.beginWalk(ctx)
	if err != nil {
		return 0, err
	}
	defer p.end()
	discarded := 0
	loose := make(map[string]int) // of them, by stem: those whose outcome the walk owes
	var errs []error
	for _, stem := range p.stems {
		n, err := p.discard(stem, give, loose)
		discarded += n
		if err != nil {
			errs = append(errs, err)
		}
		if p.err() != nil {
			break
		}
	}
	err = p.settle()
	for stem, n := range loose {
		if p.owes(stem) {
			discarded -= n
		}
	}
	return discarded, errors.Join(append(errs, p.err(), err)...)
}

// discardEntry is the number of dead letters in an entry of a journal.
const discardEntry = 1000

func (p *walk) discard(stem string, give func(Letter) bool, loose map[string]int) (discarded int, err error) {
	j, err := p.journal(stem)
	if err != nil {
		return 0, err
	}
	var gone []int64
	flush := func() error {
		err := p.record(stem, &j, entry{Done: gone})
		if err == nil {
			discarded += len(gone)
			if loose[stem] += len(gone); !p.owes(stem) {
				delete(loose, stem)
			}
		}
		gone = nil
		return err
	}
	for r, err := range recordsOf(p.f.dir, stem, &j) {
		if damaged := (*DamagedError)(nil); errors.As(err, &damaged) {
			continue
		}
		if errors.Is(err, fs.ErrNotExist) {
			p.forget(stem)
			return 0, nil
		}
		if err != nil {
			return discarded, errors.Join(err, flush())
		}
		if p.err() != nil {
			break
		}
		if !give(r.Letter) {
			continue
		}
		if gone = append(gone, r.N); len(gone) == discardEntry {
			if err := flush(); err != nil {
				return discarded, err
			}
		}
	}
	if err := flush(); err != nil {
		return discarded, err
	}
	return discarded, p.rewrite(stem)
}
