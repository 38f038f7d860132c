package pool

import "time"

// limit bounds the slots of all members together, and spaces out their requests.
type limit struct {
	slots    int           // 0 for no bound
	interval time.Duration // between two; 0 for none
	next     time.Time     // not before then
	timer    *time.Timer   // gives a slot at next; nil unless a seat waits for that
}

// space changes the interval. A request that waits for a longer one does not wait any more than the new one.
func (s *limit) space(interval time.Duration) {
	s.interval = max(interval, 0)
	if latest := time.Now().Add(s.interval); s.next.After(latest) {
		s.next = latest
	}
	if s.timer != nil && s.timer.Stop() {
		s.timer = nil // it would come too late; dispatch starts another
	}
}

// wait returns how long no request may start.
func (s *limit) wait() time.Duration {
	if s.interval == 0 {
		return 0
	}
	return time.Until(s.next)
}

// count counts a request that may start now.
func (s *limit) count() {
	if s.interval > 0 {
		s.next = time.Now().Add(s.interval)
	}
}

// uncount undoes count for a request that does not start.
func (s *limit) uncount() { s.next = s.next.Add(-s.interval) }

// giveLater gives slots when the next request may start. mu must be held.
func (p *Pool) giveLater() {
	wait := p.limit.wait()
	if wait <= 0 || p.limit.timer != nil || !p.awaited() {
		return
	}
	p.limit.timer = time.AfterFunc(wait, func() {
		p.mu.Lock()
		p.limit.timer = nil
		news := p.dispatch()
		p.mu.Unlock()
		news.wake()
	})
}
