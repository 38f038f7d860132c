package tuning

import (
	"math"
	"time"
)

// Pace limits a sender's further requests.
type Pace struct {
	BatchActions int // most actions in a request, at least 1
	BatchBytes   int // largest request in bytes, envelope included, at least 1
	InFlight     int // most requests in flight, at least 1
	// Interval is the least time between the starts of two requests. It is needed for a service that cannot keep up with
	// consecutive small requests. 0 means none.
	Interval time.Duration
}

// Bounds limit the pace of a controller, both ends included.
type Bounds struct {
	// Min is the smallest batch, the fewest requests in flight and the shortest interval. Numbers below 1 count as 1, an
	// interval below 0 as 0.
	Min Pace
	// Max is the largest batch, the most requests in flight and the longest interval. A sender sets the first three from
	// its options. Values below Min count as Min, an Interval of 0 as 10 s. Nothing counts as more than math.MaxInt32 or a
	// day.
	Max Pace
}

// Observation describes one finished request. Times are monotonic, relative to any fixed moment.
type Observation struct {
	Now       time.Duration // end of the request
	Started   time.Duration // start of the request
	Actions   int           // actions in the request
	Bytes     int           // size of the body in bytes
	Done      int           // applied actions
	Throttled int           // actions answered individually with 503
	Refused   bool          // the whole request was answered with 429 or 503
	// Broken is true if the result says nothing about capacity: a connection error, a time-out or another 5xx.
	Broken   bool
	InFlight int // requests in flight when it ended, this one included
	// Backlog is how many actions wait to be sent. 0 means that the sender is idle, so that its pace is not the limit.
	Backlog int
}

// Controller chooses the pace of one sender. It has no goroutine, timer or clock, never blocks, and is used by one
// goroutine.
type Controller interface {
	// Pace returns the pace in force.
	Pace() Pace
	// Observe processes a finished request and returns the pace from now on.
	Observe(o Observation) Pace
}

// Resizer is a Controller that can change its bounds without losing what it has learned. Both controllers of this
// package implement it.
type Resizer interface {
	// Resize changes the bounds and returns the pace from now on.
	Resize(b Bounds) Pace
}

// Policy creates a controller for each sender. It is safe for concurrent use and may be shared.
type Policy interface {
	New(b Bounds) Controller
}

const (
	// longestInterval is the longest Interval if the bounds have none.
	longestInterval = 10 * time.Second
	// mostNumber and mostInterval keep computations with bounds far from overflow.
	mostNumber   = math.MaxInt32
	mostInterval = 24 * time.Hour
)

// normalized returns valid bounds: all numbers at least 1, intervals not negative, Min not above Max.
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

// loosest returns the least restrictive pace.
func (b Bounds) loosest() Pace {
	l := b.Max
	l.Interval = b.Min.Interval
	return l
}
