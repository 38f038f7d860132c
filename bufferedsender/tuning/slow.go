package tuning

import (
	"math"
	"time"
)

const (
	// lengthy is how long a full batch takes, in seconds, before smaller ones are tried.
	lengthy = 1.0
	// A size is measured over slowRequests requests, or fewSlow that take slowSeconds together.
	slowRequests, fewSlow, slowSeconds = 16, 4, 10.0
	// A quarter of the size is kept if each request then brings gainful times as many documents per second, four times the
	// size if it brings bearable times as many. Times that vary much must not look like a gain.
	gainful, bearable = 2.0, 0.7
)

// slow looks for the size at which a request brings the most documents per second. The time of a batch may grow faster
// than its size, and nothing is refused that would say so.
type slow struct {
	size  float64 // of the largest batch; 0: no limit
	speed float64 // documents per second of one request, of the size before a trial
	from  float64 // size before a trial; 0: there is none

	at               time.Duration // requests sent before have another size
	requests         int           // measured of the present size
	actions, seconds float64

	until time.Duration // no trial before
	wait  time.Duration
}

// limit returns n, or the size that was found if that is smaller.
func (s *slow) limit(n float64) float64 {
	if s.size > 0 {
		return min(n, s.size)
	}
	return n
}

// observe processes a request in which nothing was refused. most is the largest batch otherwise.
func (s *slow) observe(o *Observation, most float64) {
	n := s.limit(most)
	if o.Started < s.at || float64(o.Actions) < fullBatch*math.Floor(n) {
		return
	}
	s.requests++
	s.actions += float64(o.Actions)
	s.seconds += (o.Now - o.Started).Seconds()
	if s.requests < slowRequests && (s.requests < fewSlow || s.seconds < slowSeconds) {
		return
	}
	speed, mean := s.actions/max(s.seconds, 1e-6), s.seconds/float64(s.requests)
	s.requests, s.actions, s.seconds = 0, 0, 0
	switch {
	case s.from == 0: // no trial
		if o.Now < s.until {
			return
		}
		if s.size > 0 {
			s.begin(o.Now, n, speed, n/shrink)
		} else if mean > lengthy {
			s.begin(o.Now, n, speed, n*shrink)
		}
	case n < s.from && speed >= gainful*s.speed, n > s.from && speed >= bearable*s.speed:
		s.begin(o.Now, n, speed, n*n/s.from) // one step further
	default:
		s.size, s.from, s.at = s.from, 0, o.Now
		s.wait = max(firstWait, min(3*s.wait, longestWait))
		s.until = o.Now + s.wait
	}
	if s.size >= most {
		s.size = 0
	}
}

// begin starts a trial of another size.
func (s *slow) begin(now time.Duration, from, speed, size float64) {
	s.from, s.speed, s.size, s.at = from, speed, max(1, size), now
}
