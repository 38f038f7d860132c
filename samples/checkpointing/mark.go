package main

import "sync"

// checkpoint says that every line of the input up to and including Line, which
// ends at byte Offset, is settled: in the index, or set aside in the file of
// refused lines.
type checkpoint struct {
	Line   int64 `json:"line"`
	Offset int64 `json:"offset"`
}

// lowWater follows the lines that are on their way and knows the last one up to
// which all are settled. Lines settle in any order, because batches overlap and
// retries take their time; the mark moves only over a contiguous run.
type lowWater struct {
	mu      sync.Mutex // guards the fields below: lines are added by the reader and settled by the sender
	at      checkpoint
	waiting []pendingLine // the lines above the mark, in order
}

type pendingLine struct {
	end     int64
	settled bool
}

// added begins to follow a line. Lines are added in the order of the input.
func (w *lowWater) added(l line) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting = append(w.waiting, pendingLine{end: l.end})
}

// settled moves the mark if the lines below are settled as well.
func (w *lowWater) settled(number int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting[number-w.at.Line-1].settled = true
	for len(w.waiting) > 0 && w.waiting[0].settled {
		w.at.Line++
		w.at.Offset = w.waiting[0].end
		w.waiting = w.waiting[1:]
	}
}

// mark returns the checkpoint that could be written now.
func (w *lowWater) mark() checkpoint {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.at
}
