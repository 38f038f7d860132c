package publisher

import "slices"

// keptErrors is how many errors are kept; further failures are only counted.
const keptErrors = 100

// failures summarizes failed actions.
type failures struct {
	count      uint64
	unsent     uint64  // of these, given up by Close
	withdrawn  uint64  // of these, taken back
	kept       uint64  // of these, kept by the Ending hook
	keptUnsent uint64  // of kept, given up by Close
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

// err returns a *FlushError, or nil without failures.
func (f *failures) err() error {
	if f.count == 0 {
		return nil
	}
	return &FlushError{Count: f.count, Unsent: f.unsent, Withdrawn: f.withdrawn, Kept: f.kept, Errors: f.errors}
}

// ended describes how an action failed without being refused by the service.
type ended struct{ unsent, withdrawn, kept bool }

// flush is one waiting call of Flush.
type flush struct {
	watermark uint64        // number of the last action accepted before it
	released  chan struct{} // closed by the loop after result is set

	// Written under admission.mu. The first of the loop that releases it and the caller that gives up decides, so that no
	// failure is lost.
	done      bool
	abandoned bool
	result    failures // read by the caller after released is closed

	// Owned by the loop.
	arrived   bool     // seen by the loop
	unsettled uint64   // its unsettled actions, see flushes
	taken     failures // failures unreported when it arrived
	from      uint64   // number of the first log entry that it may cover
	covers    int      // failures since then
}

// failure is an entry in the log of failures that waiting flushes cover.
type failure struct {
	seq uint64
	err error // nil if no flush needs it
	ended
	reported bool // passed to a caller
}

// flushes are the waiting calls of Flush and the unreported failures. The loop owns it.
//
// A failure is passed to every flush that was waiting for its action. If there was none, or only flushes whose callers
// gave up, it goes once to the next flush, or to Close.
//
// Watermarks only grow from one flush to the next. So a flush is finished when it and all before it have no unsettled
// action of their own; unsettled counts only actions accepted after the watermark of the previous flush.
type flushes struct {
	through    uint64 // actions up to this number do not wait for a full batch
	waiting    []*flush
	counted    uint64 // sum of unsettled
	log        []failure
	base       uint64 // number of log[0]
	unreported failures
}

// take adds a call of Flush, or removes one that arrives a second time because its caller gave up. notified is the
// number of items reported so far.
func (fs *flushes) take(f *flush, notified uint64) {
	if f.arrived {
		fs.drop(f)
		return
	}
	f.arrived = true
	// Everything reported was accepted before the watermark, because later items are at the earliest in the same mail.
	fs.add(f, f.watermark-notified)
	fs.through = max(fs.through, f.watermark)
}

// add makes f wait. outstanding is the number of unsettled actions up to its watermark.
func (fs *flushes) add(f *flush, outstanding uint64) {
	f.unsettled = outstanding - fs.counted
	fs.counted = outstanding
	f.taken.take(&fs.unreported)
	f.from = fs.base + uint64(len(fs.log))
	fs.waiting = append(fs.waiting, f)
}

// find returns the index of the first flush that waits for the action seq.
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

// settled records that the action seq was settled and its hooks have run; err is nil if it completed. reported is true
// if a caller that waits for this action has got err.
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

// drop removes a flush whose caller gave up.
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

// finished removes and returns the first flush if everything it waits for is settled, otherwise nil. The caller then
// calls deliver or restore.
func (fs *flushes) finished() *flush {
	if len(fs.waiting) == 0 || fs.waiting[0].unsettled > 0 {
		return nil
	}
	f := fs.waiting[0]
	fs.waiting = slices.Delete(fs.waiting, 0, 1)
	return f
}

// deliver returns the failures for a finished flush, and how many of them were not passed to any caller before, without
// those of a Close.
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

// restore takes back the failures of a flush whose caller gave up.
func (fs *flushes) restore(f *flush) {
	f.taken.take(&fs.unreported) // older ones first
	fs.unreported = f.taken
	f.taken = failures{}
	for i := range fs.log {
		if e := &fs.log[i]; !e.reported && !fs.covered(e.seq, fs.base+uint64(i)) {
			fs.unreported.add(e.err, e.ended)
			e.reported = true // by the next flush that takes it
		}
	}
	fs.trim()
}

// covered reports whether a waiting flush will get an entry of the log.
func (fs *flushes) covered(seq, number uint64) bool {
	return slices.ContainsFunc(fs.waiting, func(f *flush) bool { return f.from <= number && seq <= f.watermark })
}

// trim removes the entries that no waiting flush covers. Unreported ones are kept for the next flush.
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
