package pool

import (
	"math/bits"
	"time"

	"github.com/go-azsearch/azsearch/models"
)

// Times is a histogram of durations from a microsecond to an hour, within a fifth. Zero durations are counted
// separately.
type Times struct {
	counts [1 + octaves*parts]int64
	n      int64
}

const (
	octaves = 32 // of a microsecond
	parts   = 4  // of an octave
)

// bucket returns the index of a duration. 0 is for less than a microsecond.
func bucket(d time.Duration) int {
	us := uint64(max(d, 0) / time.Microsecond)
	if us == 0 {
		return 0
	}
	octave := bits.Len64(us) - 1
	part := int(us<<2>>octave) & (parts - 1)
	return min(1+octave*parts+part, octaves*parts)
}

// most returns the longest duration of a bucket.
func most(bucket int) time.Duration {
	if bucket == 0 {
		return 0
	}
	octave, part := (bucket-1)/parts, (bucket-1)%parts
	return time.Duration(uint64(parts+part+1)<<octave/parts) * time.Microsecond
}

func (t *Times) add(d time.Duration) {
	t.counts[bucket(d)]++
	t.n++
}

// Quantile returns the duration that the given share, from 0 to 1, did not exceed: 0.99 for all but one in a hundred.
// It is 0 without durations.
func (t *Times) Quantile(share float64) time.Duration {
	left := int64(min(max(share, 0), 1) * float64(t.n))
	for i, n := range t.counts {
		if left -= n; left < 0 || left == 0 && n > 0 {
			return most(i)
		}
	}
	return 0
}

// QueueTimes returns the waiting times of the slots that were given and taken in a class, empty for an unknown class.
// It does not block.
func (p *Pool) QueueTimes(c models.Class) Times {
	if int(c) >= classes {
		return Times{}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.queued[c]
}
