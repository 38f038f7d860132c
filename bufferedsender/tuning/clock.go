package tuning

import "time"

// clock measures how long a sender was busy and what was done in that time. Time without anything to send is left out,
// because it says nothing about the service.
type clock struct {
	last    time.Duration // of the last observation
	started bool
	idle    bool // nothing waited at that time

	busy  float64 // seconds
	lost  float64 // of busy, the part of pauses for which a service cannot have saved up capacity
	done  amounts
	sent  amounts
	slack float64 // requests after which nothing waited
	pause float64 // seconds of the pause that has just ended, or 0
}

// savedUp is for how many seconds a service is assumed to save up unused capacity. The part of a pause beyond it is
// lost; a shorter pause is made up for afterwards.
const savedUp = 0.6

// advance counts a request that has ended, and returns for how many seconds the rate may grow.
func (c *clock) advance(o *Observation, interval time.Duration) float64 {
	if !c.started {
		c.started, c.last = true, o.Started
	}
	o.Now = max(o.Now, c.last) // a clock that goes back counts as stopped
	from := c.last
	silent := (o.Started - c.last - interval).Seconds()
	c.pause = 0
	if silent > 0 {
		if c.idle {
			from = o.Started
		} else {
			c.pause = silent
			c.lost += max(0, silent-savedUp)
		}
	}
	elapsed := (o.Now - from).Seconds()
	c.last, c.idle = o.Now, o.Backlog <= 0
	if c.idle {
		c.slack++
	}
	c.busy += elapsed
	c.sent.add(amounts{1, float64(o.Actions)}, 1)
	if o.Done > 0 {
		c.done.add(amounts{1, float64(o.Actions)}, float64(o.Done)/float64(o.Actions))
	}
	return max(0, elapsed-c.pause)
}

// mark is a snapshot of a clock.
type mark struct {
	busy, lost, slack float64
	done, sent        amounts
}

func (c *clock) mark() mark { return mark{c.busy, c.lost, c.slack, c.done, c.sent} }

// since returns the amount done per second since m.
func (c *clock) since(m mark, u unit) float64 {
	return (c.done[u] - m.done[u]) / max(c.busy-m.busy-(c.lost-m.lost), 1e-3)
}

// unit selects requests or documents, whichever the service counts.
type unit uint8

const (
	requests unit = iota
	documents
)

// amounts are numbers of requests and of documents.
type amounts [2]float64

// add adds share × b.
func (a *amounts) add(b amounts, share float64) {
	for u := range a {
		a[u] += share * b[u]
	}
}

// sane returns o with impossible values corrected.
func (o Observation) sane() Observation {
	o.Started = max(o.Started, 0)
	o.Now = max(o.Now, o.Started)
	o.Actions, o.Bytes = max(o.Actions, 0), max(o.Bytes, 0)
	o.Done = max(0, min(o.Done, o.Actions))
	o.Throttled = max(0, min(o.Throttled, o.Actions))
	return o
}
