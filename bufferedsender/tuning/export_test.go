package tuning

// RateOf returns the rate that an adaptive controller keeps to, a second, of what it
// counts, and whether there is one.
func RateOf(c Controller) (float64, bool) {
	r := &c.(*adaptive).rate
	return r.value, r.known
}

// CountsRequests reports whether the rate of an adaptive controller is in requests.
func CountsRequests(c Controller) bool { return c.(*adaptive).rate.unit == requests }

// NoiseOf returns the share of refused actions that an adaptive controller takes
// for granted.
func NoiseOf(c Controller) float64 { return c.(*adaptive).rate.noise.share }

// CopyOf returns a controller that goes on where c is, independently of it.
func CopyOf(c Controller) Controller {
	a := *c.(*adaptive)
	return &a
}

// Normalized returns the bounds as the controllers use them.
func (b Bounds) Normalized() Bounds { return b.normalized() }
