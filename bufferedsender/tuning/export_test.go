package tuning

// RateOf returns the rate of an adaptive controller, in its own unit per second, and whether it has one.
func RateOf(c Controller) (float64, bool) {
	r := &c.(*adaptive).rate
	return r.value, r.known
}

// CountsRequests reports whether the rate of an adaptive controller is in requests.
func CountsRequests(c Controller) bool { return c.(*adaptive).rate.unit == requests }

// NoiseOf returns the share of refused actions that an adaptive controller treats as noise.
func NoiseOf(c Controller) float64 { return c.(*adaptive).rate.noise.share }

// CopyOf returns an independent copy of a controller.
func CopyOf(c Controller) Controller {
	a := *c.(*adaptive)
	return &a
}

// Normalized returns the bounds as the controllers use them.
func (b Bounds) Normalized() Bounds { return b.normalized() }
