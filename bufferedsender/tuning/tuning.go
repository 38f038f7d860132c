package tuning

import (
	"math"
	"time"
)

// Pace is what a sender keeps to from its next request on.
type Pace struct {
	BatchActions int // actions of a request, at least 1
	BatchBytes   int // bytes of a request, envelope included, at least 1
	InFlight     int // requests under way at once, at least 1
	// Interval is the least time between the starts of two requests. A service
	// that is slower than one small request after the other needs it. 0: none.
	Interval time.Duration
}

// Bounds is what the pace of a controller stays within, both ends included.
type Bounds struct {
	// Min is the smallest batch, the fewest requests in flight and the shortest
	// interval. What is below 1 counts as 1, an interval below 0 as 0.
	Min Pace
	// Max is the largest batch, the most requests in flight and the longest
	// interval; a sender takes the first three from its options. What is below
	// Min counts as Min, but an Interval of 0 as 10 s.
	// Nothing counts as more than math.MaxInt32 or a day.
	Max Pace
}

// Observation is what became of one request, given when it has ended. Times are
// on a clock that never goes back, counted from any moment that stays the same.
type Observation struct {
	Now       time.Duration // when it ended
	Started   time.Duration // when it left
	Actions   int           // actions it carried
	Bytes     int           // size of its body
	Done      int           // actions that were applied
	Throttled int           // actions that were answered with a 503 of their own
	Refused   bool          // all of it was answered with 429 or 503
	// Broken: there was no answer about capacity, but a connection error, a
	// time-out or another 5xx.
	Broken   bool
	InFlight int // requests under way when it ended, this one included
	// Backlog is how many actions wait to be sent. 0 means that the sender has
	// nothing to do, so that its pace is not what holds it back.
	Backlog int
}

// Controller chooses the pace of one sender. It has no goroutine, no timer and
// no clock of its own, never blocks, and is used by one goroutine.
type Controller interface {
	// Pace returns the pace in force.
	Pace() Pace
	// Observe is given what became of a request and returns the pace in force
	// from now on.
	Observe(o Observation) Pace
}

// Resizer is a Controller that can go on with other bounds and need not forget
// what it has learned. Both controllers of this package are one.
type Resizer interface {
	// Resize puts other bounds in force and returns the pace from now on.
	Resize(b Bounds) Pace
}

// Policy makes the controllers of senders, one each. It is safe for concurrent
// use and may be shared.
type Policy interface {
	New(b Bounds) Controller
}

const (
	// longestInterval is the longest Interval of bounds that name none.
	longestInterval = 10 * time.Second
	// mostNumber and mostInterval keep what is computed from bounds far from any
	// overflow.
	mostNumber   = math.MaxInt32
	mostInterval = 24 * time.Hour
)

// normalized makes bounds that every controller can rely on: all numbers at
// least 1, intervals not negative, Min not above Max.
func (b Bounds) normalized() Bounds {
	if b.Max.Interval <= 0 {
		b.Max.Interval = longestInterval
	}
	number := func(low, high *int) {
		*low = min(max(*low, 1), mostNumber)
		*high = min(max(*high, *low), mostNumber)
	}
	number(&b.Min.BatchActions, &b.Max.BatchActions)
	number(&b.Min.BatchBytes, &b.Max.BatchBytes)
	number(&b.Min.InFlight, &b.Max.InFlight)
	b.Min.Interval = min(max(b.Min.Interval, 0), mostInterval)
	b.Max.Interval = min(max(b.Max.Interval, b.Min.Interval), mostInterval)
	return b
}

// loosest is the pace that allows the most.
func (b Bounds) loosest() Pace {
	l := b.Max
	l.Interval = b.Min.Interval
	return l
}
