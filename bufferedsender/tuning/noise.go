package tuning

const (
	// mostNoise is the share of refused actions above which it is an overload.
	mostNoise = 0.3
	// A trial compares the rounds in which the rate was above lowRate of that at
	// its beginning with those below. There must be lowRounds of the latter, with
	// lowRefused refused actions, and they must have at least sameShare of the share
	// of the former.
	lowRate, sameShare    = 0.6, 0.5
	lowRounds, lowRefused = 3, 8
	// Refused actions may be in the same requests mostScatter times as much as by
	// chance, and luck more if there are few. leastBatch is the size of requests
	// that can tell.
	mostScatter, luck, leastBatch = 2, 8, 4
	// Refused actions count as noise as long as they are not above noiseSlack
	// times what is expected by more than noiseBurst: that happens by chance once
	// in some ten thousand actions.
	noiseSlack, noiseBurst = 2, 6
	// The share is measured again when noiseSample refused actions are expected.
	noiseSample = 20
)

// noise is the share of single actions that are refused whatever the rate is.
// An overload ends when less is sent, or is less of one; so a share that stays
// as it is while the rate falls has another reason, and no rate is low enough
// for it. While others overload the service a share may stay as well. But then
// it is the rest of a batch that is refused, and not one action here and there;
// without that test four senders believe of each other that they are noise.
type noise struct {
	share  float64
	found  float64 // what it was when the trial ended; it does not become more
	excess float64 // refused actions that it does not explain (CUSUM, Page 1954)
	sample counts  // since it was measured

	// The trial: what was refused since the rate began to fall.
	from      float64 // the rate then, 0: no trial
	round     counts
	high, low counts
	lowRounds int
}

// counts are what became of requests.
type counts struct{ requests, sent, refused, squares float64 }

func (c *counts) add(o counts) {
	c.requests += o.requests
	c.sent += o.sent
	c.refused += o.refused
	c.squares += o.squares
}

func (c counts) share() float64 { return c.refused / max(c.sent, 1) }

// byChance reports whether the refused actions are spread over the requests as
// if each had been drawn (Pearson's chi-squared, divided by its expectation).
func (c counts) byChance() bool {
	s := c.share()
	return c.sent >= leastBatch*c.requests && c.squares-s*c.refused < s*(1-s)*(mostScatter*c.requests+luck)
}

// observe counts a request that was not refused whole, and reports whether the
// noise explains what was refused of it.
func (n *noise) observe(o *Observation) bool {
	if o.Actions == 0 {
		return o.Throttled == 0
	}
	sent, refused := float64(o.Actions), float64(o.Throttled)
	x := counts{1, sent, refused, refused * refused / sent}
	n.round.add(x)
	if n.share == 0 {
		return false
	}
	n.excess = within(n.excess+refused-noiseSlack*n.share*sent, 0, 2*noiseBurst)
	if n.excess > noiseBurst {
		return false
	}
	n.sample.add(x)
	if n.share*n.sample.sent >= noiseSample {
		n.share = min(n.sample.share(), n.found)
		if !n.sample.byChance() {
			n.share = 0 // nothing was refused, or by an overload
		}
		n.sample = counts{}
	}
	return true
}

// decided notes that the rate falls, and what it was. It returns the rate at
// the beginning of the trial if falling has turned out to be of no use, else 0.
// calm: the round was so long that the rate was right.
func (n *noise) decided(value float64, calm bool) float64 {
	round := n.round
	n.round, n.excess = counts{}, 0
	if n.from == 0 || value >= n.from || calm || round.share() > mostNoise {
		n.begin(value)
		if round.share() <= mostNoise {
			n.high = round
		}
		return 0
	}
	if value < lowRate*n.from {
		n.low.add(round)
		n.lowRounds++
	} else {
		n.high.add(round)
	}
	if n.lowRounds < lowRounds || n.low.refused < lowRefused {
		return 0
	}
	if n.low.share() < sameShare*n.high.share() || !n.low.byChance() { // it has helped
		low := n.low
		n.begin(value)
		n.high = low
		return 0
	}
	from := n.from
	*n = noise{share: n.low.share(), found: n.low.share()}
	return from
}

// begin begins a trial at a rate.
func (n *noise) begin(value float64) {
	n.from, n.high, n.low, n.lowRounds = value, counts{}, counts{}, 0
}

// refusedWhole ends a trial: it is about single actions.
func (n *noise) refusedWhole() { n.from = 0 }
