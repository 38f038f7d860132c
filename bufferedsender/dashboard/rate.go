package dashboard

import "time"

const (
	rateOver  = 10 * time.Second
	rateEvery = time.Second
	rateKept  = time.Minute // without a reading: the fleet has no sender for that index any more
)

// rate computes a throughput from a counter that is read at irregular intervals.
type rate struct {
	samples []sample
	read    time.Time // when it was last computed
}

type sample struct {
	at    time.Time
	count int64
	bytes int64
}

// add records a reading and returns the increase per second since the oldest kept one: the last reading before the
// recent ten seconds or, without one, the first.
func (r *rate) add(now sample) (perSecond, bytesPerSecond float64) {
	r.read = now.at
	for len(r.samples) > 1 && now.at.Sub(r.samples[1].at) >= rateOver {
		r.samples = r.samples[1:]
	}
	if n := len(r.samples); n == 0 || now.at.Sub(r.samples[n-1].at) >= rateEvery {
		r.samples = append(r.samples, now)
	}
	first := r.samples[0]
	if took := now.at.Sub(first.at).Seconds(); took > 0 {
		return max(0, float64(now.count-first.count)/took), max(0, float64(now.bytes-first.bytes)/took)
	}
	return 0, 0
}
