package publisher

// batchLimits limits the size of one request.
type batchLimits struct {
	actions  int
	enough   int // a batch with this many actions need not wait for more; at most actions
	bytes    int
	envelope int    // bytes around all actions
	comma    int    // bytes between two actions
	newest   uint64 // number of the last action that may be sent for the first time
	class    uint8  // service class
	probe    bool   // one action, see takeProbe

	elsewhere, fresh bool // see takeElsewhere
	tried            int

	// Limits for a part of a split batch. Learned or tuned limits do not apply, because it is being halved anyway.
	partActions, partBytes int
}

// size returns the size of a request of n actions with the given total bytes.
func (l batchLimits) size(n, bytes int) int {
	return l.envelope + bytes + (n-1)*l.comma
}

// sizeLimit searches for the largest request that the service accepts if that is less than the configured maximum, for
// example because of a proxy or a smaller tier. It is a binary search between the largest size that passed and the
// smallest one that was refused. After a run of successes it tries larger sizes again, so that neither a temporary
// problem nor one giant document reduces batches permanently.
type sizeLimit struct {
	max      int // configured
	current  int
	passed   int // largest accepted size below refused
	refused  int // smallest refused size; 0 if none
	streak   int // requests at the limit that passed since refused last changed
	patience int // length of a streak before a refused size is tried again
	probing  bool
	doubted  int // smallest size that timed out again with nothing passing in between; 0 if none

	cutOff int  // smallest size without an answer, until one as large passes; 0 if none
	since  bool // something has passed since then
}

// slowStart is the size limit after a request without an answer, because its size may be the cause. From there the
// limit doubles while requests pass.
const slowStart = 64 << 10

// A refused size is tried again after this many passed requests that were cut by the limit, and twice as many after
// each probe that was refused.
const (
	firstPatience = 16
	lastPatience  = 1024
	cutPatience   = 4 * firstPatience // the most if the request had no answer
)

func newSizeLimit(maximum int) sizeLimit {
	return sizeLimit{max: maximum, current: maximum, patience: firstPatience}
}

// refuse records that a request with several actions and the given size was too large. (A single refused action is
// itself too large and says nothing about batches.)
func (s *sizeLimit) refuse(size int) {
	if size > s.max {
		return // it was sent before the maximum was lowered
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

// slow records that a request of the given size took too long while a smaller one passed: the next ones are much
// smaller.
func (s *sizeLimit) slow(size int) {
	s.refuse(size)
	s.current = min(s.current, max(s.passed, size/16, 1))
}

// suspect reports whether the size is the likely cause if a request of the given size has no answer: larger ones had
// none, and smaller ones have passed since.
func (s *sizeLimit) suspect(size int) bool { return s.cutOff > 0 && s.since && size > s.passed }

// cut records that a request with several actions and the given size had no answer. Either a proxy reset the connection
// because of the size, or nothing works.
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

// doubt records that a request of the given size timed out again with nothing passing in between: either an outage, or
// it is too large. Its rest, sent without one of its actions, may be just small enough. Then it would not be divided,
// and the next request of that size would time out as well. So when a request nearly as large passes, this size counts
// as refused. After an outage that costs almost nothing.
func (s *sizeLimit) doubt(size int) {
	if size <= s.max && (s.doubted == 0 || size < s.doubted) {
		s.doubted = size
	}
}

// accept records that a request of the given size passed. cut is true if the limit kept it from being larger; other
// requests prove nothing about the limit.
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
		// patience is not reset: if the maximum is refused after all, the next probe is late.
		s.current, s.passed, s.refused = s.max, 0, 0
	}
}
