package tuning

import (
	"math"
	"time"
)

const (
	// shrink is the factor for a batch that was refused as a whole, if none as large has passed.
	shrink = 0.25
	// refusals is how many consecutive refusals make the largest passed size doubtful.
	refusals = 5
	// After patience batches, if the last two passed, a batch of twice the size is tried. Each failed try doubles patience,
	// up to mostPatience.
	mostPatience = 32
)

// fit searches for the largest batch that a service takes at once. A refused request smaller than one that passed is
// ignored.
type fit struct {
	most, size float64
	passed     float64 // largest size that has passed
	row, run   int     // consecutive refused requests, consecutive passed ones
	streak     float64 // batches of this size since a larger one was tried
	patience   float64
	at         time.Duration // requests sent before the last refusal carry no new information
}

func newFit(most int) fit {
	return fit{most: float64(most), size: float64(most), patience: 1}
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
	if n > f.passed {
		f.passed, f.patience = n, 1
	}
	if n < fullBatch*math.Round(f.size) {
		return // smaller than allowed
	}
	if f.streak++; f.run > 1 && f.streak >= f.patience { // after a single one, the service may still be in debt
		f.size, f.streak = min(2*f.size, f.most), 0
	}
}

func (f *fit) refuse(n float64) {
	if f.row++; f.row > refusals {
		f.passed /= 2
	}
	f.run = 0
	if n <= f.passed {
		return
	}
	f.size, f.streak = max(1, min(f.size, max(f.passed, shrink*n))), 0
	if f.passed > 0 {
		f.patience = min(2*f.patience, mostPatience)
	}
}
