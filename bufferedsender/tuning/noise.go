package tuning

const (
	// mostNoise is the share of refused actions above which there is an overload.
	mostNoise = 0.3
	// A trial compares the rounds with a rate below lowRate of the initial one with the other rounds. It needs lowRounds
	// low rounds with lowRefused refused actions. Their share of refused actions must be at least sameShare of that in the
	// others.
	lowRate, sameShare    = 0.6, 0.5
	lowRounds, lowRefused = 3, 8
	// Refused actions may cluster in requests up to mostScatter times as much as by chance, plus luck for small numbers.
	// Only requests with leastBatch actions on average show this.
	mostScatter, luck, leastBatch = 2, 8, 4
	// Refused actions count as noise until they exceed noiseSlack times the expected number by more than noiseBurst. By
	// chance that happens once in about ten thousand actions.
	noiseSlack, noiseBurst = 2, 6
	// The share is measured again after noiseSample expected refusals.
	noiseSample = 20
)

// noise is the share of single actions that are refused at every rate. An overload ends, or at least shrinks, at a
// lower rate. So a share that stays the same while the rate falls has another cause, and no rate is low enough for it.
// While other senders overload the service the share may stay too, but then the rest of a batch is refused, not
// scattered actions. Without the test for scattering, four senders would take each other's load for noise.
type noise struct {
	share  float64
	found  float64 // share at the end of the trial; it never grows
	excess float64 // refused actions beyond the noise (CUSUM, Page 1954)
	sample counts  // since the last measurement

	// The trial: refusals since the rate began to fall.
	from      float64 // the rate at its start; 0: no trial
	round     counts
	high, low counts
	lowRounds int
}

// counts are sums over requests.
type counts struct{ requests, sent, refused, squares float64 }

func (c *counts) add(o counts) {
	c.requests += o.requests
	c.sent += o.sent
	c.refused += o.refused
	c.squares += o.squares
}

func (c counts) share() float64 { return c.refused / max(c.sent, 1) }

// byChance reports whether the refused actions are distributed over the requests as if drawn at random (Pearson's
// chi-squared divided by its expectation).
func (c counts) byChance() bool {
	s := c.share()
	return c.sent >= leastBatch*c.requests && c.squares-s*c.refused < s*(1-s)*(mostScatter*c.requests+luck)
}

// observe counts a request that was not refused as a whole, and reports whether the noise explains its refused actions.
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
			n.share = 0 // nothing was refused, or an overload was the cause
		}
		n.sample = counts{}
	}
	return true
}

// decided records that the rate falls from value. If lower rates have not helped, it ends the trial and returns the
// rate at its start; otherwise it returns 0. calm is true if the round was so long that the rate was right.
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
	if n.low.share() < sameShare*n.high.share() || !n.low.byChance() { // the lower rate helped
		low := n.low
		n.begin(value)
		n.high = low
		return 0
	}
	from := n.from
	*n = noise{share: n.low.share(), found: n.low.share()}
	return from
}

// begin starts a trial at a rate.
func (n *noise) begin(value float64) {
	n.from, n.high, n.low, n.lowRounds = value, counts{}, counts{}, 0
}

// refusedWhole ends a trial, because trials are about single actions.
func (n *noise) refusedWhole() { n.from = 0 }
