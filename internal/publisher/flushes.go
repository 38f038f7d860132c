package publisher

import "slices"

// keptErrors is how many failures are kept one by one; the rest are counted.
const keptErrors = 100

// failures are actions that failed.
type failures struct {
	count      uint64
	unsent     uint64  // of these, given up by Close
	withdrawn  uint64  // and taken back
	kept       uint64  // and those that the Ending hook has kept
	keptUnsent uint64  // of these, given up by Close
	errors     []error // the first keptErrors
}

func (f *failures) add(err error, how ended) {
	f.count++
	if how.unsent {
		f.unsent++
	}
	if how.withdrawn {
		f.withdrawn++
	}
	if how.kept {
		f.kept++
	}
	if how.kept && how.unsent {
		f.keptUnsent++
	}
	if len(f.errors) < keptErrors && err != nil {
		f.errors = append(f.errors, err)
	}
}

func (f *failures) take(other *failures) {
	f.count += other.count
	f.unsent += other.unsent
	f.withdrawn += other.withdrawn
	f.kept += other.kept
	f.keptUnsent += other.keptUnsent
	f.errors = append(f.errors, other.errors[:min(len(other.errors), keptErrors-len(f.errors))]...)
	*other = failures{}
}

// err returns a *FlushError, nil if nothing failed.
func (f *failures) err() error {
	if f.count == 0 {
		return nil
	}
	return &FlushError{Count: f.count, Unsent: f.unsent, Withdrawn: f.withdrawn, Kept: f.kept, Errors: f.errors}
}

// ended says how an action has failed that the service did not refuse.
type ended struct{ unsent, withdrawn, kept bool }

// flush is one call of Flush that waits.
type flush struct {
	watermark uint64        // sequence number of the last action accepted before it
	released  chan struct{} // closed by the loop after result is set

	// Written under admission.mu. Whoever comes first of the loop that releases
	// and the caller that gives up decides which of the two happened, so that no
	// failure is lost.
	done      bool
	abandoned bool
	result    failures // read by the caller after released is closed

	// Of the loop alone.
	arrived   bool     // seen by the loop
	unsettled uint64   // its actions that are not settled, see flushes
	taken     failures // that nobody had been given when it came
	from      uint64   // number of the first entry of the log that it may cover
	covers    int      // failures since
}

// entry of the log of failures that some waiting flush covers.
type failure struct {
	seq uint64
	err error // nil if nobody needs it any more
	ended
	reported bool // somebody has been given it
}

// flushes are the calls of Flush that wait, and the failures that nobody has been
// given. It belongs to the loop.
//
// A failure is given to every flush that was waiting for its action. What none
// was waiting for, or only those whose callers gave up, goes to the next one, or
// to Close: once.
//
// Watermarks only grow from one flush to the next, so a flush is finished when
// it and all before it have no unsettled action of their own; unsettled counts
// only those that were accepted after the watermark of the flush before.
type flushes struct {
	through    uint64 // what was accepted up to here does not wait for a full batch
	waiting    []*flush
	counted    uint64 // sum of their unsettled
	log        []failure
	base       uint64 // number of log[0]
	unreported failures
}

// take takes in a call of Flush, or lets one go that comes a second time: its caller
// gave up. notified is how many items have been reported.
func (fs *flushes) take(f *flush, notified uint64) {
	if f.arrived {
		fs.drop(f)
		return
	}
	f.arrived = true
	// Everything reported was accepted before the watermark: what came after it is in
	// the same mail at the earliest.
	fs.add(f, f.watermark-notified)
	fs.through = max(fs.through, f.watermark)
}

// add makes f wait. outstanding is how many actions accepted up to its
// watermark are not settled.
func (fs *flushes) add(f *flush, outstanding uint64) {
	f.unsettled = outstanding - fs.counted
	fs.counted = outstanding
	f.taken.take(&fs.unreported)
	f.from = fs.base + uint64(len(fs.log))
	fs.waiting = append(fs.waiting, f)
}

// find returns the position of the first flush that waits for the action seq.
func (fs *flushes) find(seq uint64) int {
	if len(fs.waiting) == 0 {
		return 0 // the common case
	}
	i, _ := slices.BinarySearchFunc(fs.waiting, seq, func(f *flush, seq uint64) int {
		if f.watermark < seq {
			return -1
		}
		return 1
	})
	return i
}

// settled notes that the action seq is settled and notified; err is nil if it was
// completed. reported says that somebody who waits for this very action has been
// given err.
func (fs *flushes) settled(seq uint64, err error, how ended, reported bool) {
	i := fs.find(seq)
	if i < len(fs.waiting) {
		fs.waiting[i].unsettled--
		fs.counted--
	}
	switch {
	case err == nil:
	case i < len(fs.waiting):
		e := failure{seq: seq, ended: how, reported: reported}
		for _, f := range fs.waiting[i:] {
			if f.covers++; f.covers <= keptErrors {
				e.err = err
			}
		}
		fs.log = append(fs.log, e)
	case !reported:
		fs.unreported.add(err, how)
	}
}

// drop removes a flush whose caller has given up.
func (fs *flushes) drop(f *flush) {
	i := slices.Index(fs.waiting, f)
	if i < 0 {
		return
	}
	fs.waiting = slices.Delete(fs.waiting, i, i+1)
	if i < len(fs.waiting) {
		fs.waiting[i].unsettled += f.unsettled
	} else {
		fs.counted -= f.unsettled
	}
	fs.restore(f)
}

// finished removes and returns the first flush if everything it waits for is
// settled, else nil. deliver or restore follows.
func (fs *flushes) finished() *flush {
	if len(fs.waiting) == 0 || fs.waiting[0].unsettled > 0 {
		return nil
	}
	f := fs.waiting[0]
	fs.waiting = slices.Delete(fs.waiting, 0, 1)
	return f
}

// deliver returns what a finished flush is given, and how many of these failures,
// but for those of a Close, nobody else has been given.
func (fs *flushes) deliver(f *flush) (result failures, news uint64) {
	result = f.taken
	news = result.count - result.unsent
	for i := f.from - fs.base; i < uint64(len(fs.log)); i++ {
		e := &fs.log[i]
		if e.seq > f.watermark {
			continue
		}
		if !e.reported && !e.unsent {
			news++
		}
		e.reported = true
		result.add(e.err, e.ended)
	}
	fs.trim()
	return result, news
}

// restore takes back what a flush was to be given that has left.
func (fs *flushes) restore(f *flush) {
	f.taken.take(&fs.unreported) // older ones first
	fs.unreported = f.taken
	f.taken = failures{}
	for i := range fs.log {
		if e := &fs.log[i]; !e.reported && !fs.covered(e.seq, fs.base+uint64(i)) {
			fs.unreported.add(e.err, e.ended)
			e.reported = true // by whoever takes it from there
		}
	}
	fs.trim()
}

// covered reports whether a waiting flush is to be given an entry of the log.
func (fs *flushes) covered(seq, number uint64) bool {
	return slices.ContainsFunc(fs.waiting, func(f *flush) bool { return f.from <= number && seq <= f.watermark })
}

// trim forgets the entries that no waiting flush covers. What nobody was given
// is left to the next one.
func (fs *flushes) trim() {
	n := len(fs.log)
	if len(fs.waiting) > 0 {
		n = int(fs.waiting[0].from - fs.base)
	}
	for _, e := range fs.log[:n] {
		if !e.reported {
			fs.unreported.add(e.err, e.ended)
		}
	}
	clear(fs.log[:n])
	fs.log, fs.base = fs.log[n:], fs.base+uint64(n)
	if len(fs.log) == 0 {
		fs.log = nil
	}
}
