package publisher

// batchLimits is how much one request may hold.
type batchLimits struct {
	actions  int
	enough   int // actions, or fewer: from so many on it is worth a request
	bytes    int
	envelope int    // bytes around all actions
	comma    int    // bytes between two actions
	newest   uint64 // the last action that may be sent for the first time
	class    uint8  // of service
	probe    bool   // one action, see takeProbe

	elsewhere, fresh bool // see takeElsewhere
	tried            int

	// A part of a split batch keeps to these: what was learned or tuned does not
	// cut it any smaller, it is being halved as it is.
	partActions, partBytes int
}

// size returns the size of a request of n actions with the given bytes in all.
func (l batchLimits) size(n, bytes int) int {
	return l.envelope + bytes + (n-1)*l.comma
}

// sizeLimit finds the largest request that the service takes, when that is less
// than the configured maximum: a proxy in between, or a smaller tier. It is a
// binary search between the largest request seen to pass and the smallest one
// seen refused, and it forgets what it learned after a run of successes, so
// that neither a passing trouble nor one giant document shrinks batches for
// good.
type sizeLimit struct {
	max      int // configured
	current  int
	passed   int // largest size accepted that is below refused
	refused  int // smallest size refused; 0 if none
	streak   int // requests cut by the limit that passed since refused last changed
	patience int // how long a streak it takes to try a refused size again
	probing  bool
	doubted  int // smallest size that took too long again, with nothing passing in between; 0 if none

	cutOff int  // smallest size that had no answer, until one as large passes; 0 if none
	since  bool // something has passed since then
}

// slowStart is how large a request may be after one that had no answer: it may have been for
// its size. From there on the limit doubles while requests pass.
const slowStart = 64 << 10

// A refused size is tried again after this many requests cut by the limit passed,
// twice as many after each probe that was refused again.
const (
	firstPatience = 16
	lastPatience  = 1024
	cutPatience   = 4 * firstPatience // at the most, if the request had no answer
)

func newSizeLimit(maximum int) sizeLimit {
	return sizeLimit{max: maximum, current: maximum, patience: firstPatience}
}

// refuse notes that a request of several actions and the given size was too
// large. (A single refused action is itself too large and says nothing about
// batches.)
func (s *sizeLimit) refuse(size int) {
	if size > s.max {
		return // it left before the maximum was lowered
	}
	if s.probing {
		s.probing = false
		s.patience = min(2*s.patience, lastPatience)
	}
	s.streak = 0
	if s.refused == 0 || size < s.refused {
		s.refused = size
	}
	if s.passed >= s.refused {
		s.passed = 0 // the service has become stricter
	}
	s.current = min(s.current, max(s.passed, size/2, 1))
}

// slow notes that a request of the given size took too long, while a smaller one
// passed: the next ones are a good deal smaller.
func (s *sizeLimit) slow(size int) {
	s.refuse(size)
	s.current = min(s.current, max(s.passed, size/16, 1))
}

// suspect reports whether a request of the given size that has no answer has none for its
// size: larger ones had none, and smaller ones have passed since.
func (s *sizeLimit) suspect(size int) bool { return s.cutOff > 0 && s.since && size > s.passed }

// cut notes that a request of several actions and the given size had no answer: a proxy may
// have reset the connection for its size, or nothing works.
func (s *sizeLimit) cut(size int) {
	switch {
	case s.suspect(size):
		s.refuse(size)
		s.patience = min(s.patience, cutPatience) // no answer is weaker evidence than a 413
		s.cutOff = min(s.cutOff, size)
	case size <= s.max && size > slowStart:
		s.cutOff = size
		s.current = min(s.current, max(s.passed, slowStart))
	}
	s.since = false
}

// doubt notes that a request of the given size took too long again, and nothing
// passed in between: that is an outage, or it is too large. Its rest, which is sent
// without one of its actions, may be just small enough: then it would not be divided,
// and the next request of that size would take too long as well. So when a
// request nearly as large passes, this size counts as refused. After an outage that
// costs next to nothing.
func (s *sizeLimit) doubt(size int) {
	if size <= s.max && (s.doubted == 0 || size < s.doubted) {
		s.doubted = size
	}
}

// accept notes that a request of the given size passed. cut says that it would
// have been larger but for the limit; another one proves nothing about it.
func (s *sizeLimit) accept(size int, cut bool) {
	if doubted := s.doubted; size > doubted/2 && doubted > 0 {
		s.doubted = 0
		if size < doubted {
			s.passed = max(s.passed, size)
			s.refuse(doubted)
		}
	}
	s.since = true
	if size >= s.cutOff {
		s.cutOff = 0
	}
	if s.refused == 0 {
		if s.current < s.max && cut {
			s.passed = max(s.passed, size)
			s.current = min(2*s.current, s.max)
		}
		return
	}
	if size < s.refused {
		s.passed = max(s.passed, size)
	}
	if !cut {
		return
	}
	if s.streak++; s.streak >= s.patience {
		s.streak, s.probing = 0, true
		s.refused = min(2*s.refused, s.max)
	}
	switch gap := s.refused - s.current; {
	case gap > s.refused/16:
		s.current += gap / 2
	case s.probing && s.refused >= s.max: // as good as the maximum
		// Not patience: should the maximum be refused after all, the next probe
		// comes late.
		s.current, s.passed, s.refused = s.max, 0, 0
	}
}
