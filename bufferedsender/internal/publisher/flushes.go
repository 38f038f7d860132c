package publisher

import "slices"

// keptErrors is how many failures are kept one by one; the rest are counted.
const keptErrors = 100

// failures are actions that failed and that no Flush or Close has reported.
type failures struct {
	count  uint64
	unsent uint64  // of these, given up by Close
	errors []error // the first keptErrors
}

func (f *failures) add(err error, unsent bool) {
	f.count++
	if unsent {
		f.unsent++
	}
	if len(f.errors) < keptErrors {
		f.errors = append(f.errors, err)
	}
}

func (f *failures) take(other *failures) {
	f.count += other.count
	f.unsent += other.unsent
	f.errors = append(f.errors, other.errors[:min(len(other.errors), keptErrors-len(f.errors))]...)
	*other = failures{}
}

// flush is one call of Flush that waits.
type flush struct {
	watermark uint64        // sequence number of the last action accepted before it
	released  chan struct{} // closed by the loop after result is set

	// Written under admission.mu. Whoever comes first of the loop that releases
	// and the caller that gives up decides which of the two happened, so that
	// failures are reported exactly once.
	done      bool
	abandoned bool
	result    failures // read by the caller after released is closed

	// Of the loop alone.
	arrived   bool   // seen by the loop
	unsettled uint64 // its actions that are not settled, see flushes
	failed    failures
}

// flushes are the calls of Flush that wait, and the failures nobody has been
// told of. It belongs to the loop.
//
// Watermarks only grow from one flush to the next, so a flush is finished when
// it and all before it have no unsettled action of their own; unsettled counts
// only those that were accepted after the watermark of the flush before.
type flushes struct {
	waiting    []*flush
	counted    uint64 // sum of their unsettled
	unreported failures
}

// add makes f wait. outstanding is how many actions accepted up to its
// watermark are not settled.
func (fs *flushes) add(f *flush, outstanding uint64) {
	f.unsettled = outstanding - fs.counted
	fs.counted = outstanding
	f.failed.take(&fs.unreported)
	fs.waiting = append(fs.waiting, f)
}

// find returns the first flush that waits for the action seq, or nil.
func (fs *flushes) find(seq uint64) *flush {
	if len(fs.waiting) == 0 {
		return nil // the common case
	}
	i, _ := slices.BinarySearchFunc(fs.waiting, seq, func(f *flush, seq uint64) int {
		if f.watermark < seq {
			return -1
		}
		return 1
	})
	if i == len(fs.waiting) {
		return nil
	}
	return fs.waiting[i]
}

// settled notes that the action seq is settled and told; err is nil if it was
// completed.
func (fs *flushes) settled(seq uint64, err error, unsent bool) {
	report := &fs.unreported
	if f := fs.find(seq); f != nil {
		f.unsettled--
		fs.counted--
		report = &f.failed
	}
	if err != nil {
		report.add(err, unsent)
	}
}

// drop removes a flush whose caller has given up. What it would have reported
// is left to the next one.
func (fs *flushes) drop(f *flush) {
	i := slices.Index(fs.waiting, f)
	if i < 0 {
		return
	}
	fs.waiting = slices.Delete(fs.waiting, i, i+1)
	if i < len(fs.waiting) {
		fs.waiting[i].unsettled += f.unsettled
		f.failed.take(&fs.waiting[i].failed) // older failures first
		fs.waiting[i].failed = f.failed
		return
	}
	fs.counted -= f.unsettled
	f.failed.take(&fs.unreported)
	fs.unreported = f.failed
}

// finished removes and returns the first flush if everything it waits for is
// settled, else nil.
func (fs *flushes) finished() *flush {
	if len(fs.waiting) == 0 || fs.waiting[0].unsettled > 0 {
		return nil
	}
	f := fs.waiting[0]
	fs.waiting = slices.Delete(fs.waiting, 0, 1)
	return f
}

// restore takes back the failures of a finished flush that could not be
// delivered.
func (fs *flushes) restore(failed *failures) {
	report := &fs.unreported
	if len(fs.waiting) > 0 {
		report = &fs.waiting[0].failed
	}
	failed.take(report)
	*report = *failed
}
