package tuning

// window is the number of requests in flight.
type window struct {
	size, least, most float64
	tolerance         float64 // of latency, negative: none
}

func newWindow(b Bounds, tolerance float64) window {
	return window{size: float64(b.Min.InFlight), least: float64(b.Min.InFlight), most: float64(b.Max.InFlight), tolerance: tolerance}
}

func (w *window) limit() int { return int(w.size) }

func (w *window) passed(o *Observation, c *clock) {
	if o.Backlog > 0 {
		w.size = min(w.size+3, w.most)
	}
}
