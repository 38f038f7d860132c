package tuning

import (
	"math"
	"time"
)

const (
	// shrink is what is left of a batch that was refused as a whole although none as
	// large has passed.
	shrink = 0.25
	// refusals is how many requests in a row are refused before what has passed
	// earlier is doubted.
	refusals = 2
	// narrow is how near the batch is to one that was refused when the search ends,
	// and beyond is how much larger the next try is then. There is one after patience
	// batches; patience doubles with each that fails, to mostPatience.
	narrow, beyond, mostPatience = 1.25, 1.6, 1024
)

// fit is the binary search for the largest batch that a service takes at once. A
// request that is refused although larger ones have passed says nothing about that.
type fit struct {
	most, size float64
	passed     float64 // largest that has passed
	refused    float64 // smallest that was refused, infinite after one as large has passed
	row, run   int     // requests in a row that were refused, that passed
	streak     float64 // batches of this size since one was refused
	patience   float64
	at         time.Duration // requests that left before the last refusal say nothing new
}

func newFit(most int) fit {
	return fit{most: float64(most), size: float64(most), refused: math.Inf(1), patience: 1}
}

func (f *fit) resize(most int) {
	if f.size == f.most {
		f.size = float64(most)
	}
	f.most = float64(most)
	f.size = min(f.size, f.most)
}

func (f *fit) observe(o *Observation) {
	switch {
	case o.Actions == 0:
	case !o.Refused:
		f.pass(float64(o.Actions))
	case o.Started >= f.at:
		f.refuse(float64(o.Actions))
		f.at = o.Now
	}
}

func (f *fit) pass(n float64) {
	f.row = 0
	f.run++
	f.passed = max(f.passed, n)
	if n >= f.refused {
		f.refused, f.patience = math.Inf(1), 1
	}
	if n < fullBatch*math.Round(f.size) || f.run < 2 {
		return // it was not as large as it may be, or has left the service in debt
	}
	larger := min(2*f.size, math.Sqrt(f.size*f.refused))
	if larger < narrow*f.size {
		if f.streak++; f.streak < f.patience {
			return
		}
		f.streak = 0
		larger = beyond * f.size
	}
	f.size = min(larger, f.most)
}

func (f *fit) refuse(n float64) {
	if f.row++; f.row > refusals {
		f.passed /= 2
	}
	f.streak, f.run = 0, 0
	if n > f.passed {
		f.refused = n
		f.size = max(1, min(f.size, shrink*n))
		f.patience = min(2*f.patience, mostPatience)
	}
}
