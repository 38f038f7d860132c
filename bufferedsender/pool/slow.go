package pool

import (
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/models"
)

// Members share slots by bytes. A request that keeps its slot far longer than those of the other members counts
// additional bytes, so that a slow member loses turns. DESIGN.md has the argument.
const (
	// A request is slow after slowOfUsual times the usual time of its line, and not before slowAtLeast.
	slowOfUsual, slowAtLeast = 4, 50 * time.Millisecond
	// slowShare divides the additional turns: a slow member has about twice the slots' time of each other member.
	slowShare = 2.25
	// slowWait limits the time for which the additional turns delay the member.
	slowWait = 5 * time.Second
)

// pace has the last answers of a line, one for each of the last members.
type pace struct {
	members [31]*Member
	took    [31]time.Duration
	n, next int
	fast    time.Duration // the result of usual
	known   bool
}

// add notes how long a request of a member took.
func (p *pace) add(m *Member, took time.Duration) {
	at := slices.Index(p.members[:p.n], m)
	if at < 0 {
		at = p.next
		p.next = (at + 1) % len(p.members)
		p.n = max(p.n, at+1)
	}
	p.members[at], p.took[at], p.known = m, took, false
}

// remove discards the answers of a member that has left.
func (p *pace) remove(m *Member) {
	at := slices.Index(p.members[:p.n], m)
	if at < 0 {
		return
	}
	p.n--
	p.members[at], p.took[at] = p.members[p.n], p.took[p.n]
	p.members[p.n], p.next, p.known = nil, p.n, false
}

// usual returns the time of the faster members, 0 if only one has answers. Each member has one vote, because slow ones
// have few answers; the lowest eighth decides, because slow ones may be the majority.
func (p *pace) usual() time.Duration {
	if p.n < 2 {
		return 0
	}
	if !p.known {
		sorted := p.took
		slices.Sort(sorted[:p.n])
		p.fast, p.known = sorted[(p.n-1)/8], true
	}
	return p.fast
}

// expected returns how long the last request of a member took, 0 if that is not known.
func (p *pace) expected(m *Member) time.Duration {
	if at := slices.Index(p.members[:p.n], m); at >= 0 {
		return p.took[at]
	}
	return 0
}

// extra returns the bytes that a request of so many bytes counts in addition if it keeps its slot for took. mu must be
// held.
func (p *Pool) extra(lane models.Class, bytes int64, took time.Duration) int64 {
	l := &p.lines[lane]
	usual := l.pace.usual()
	if usual <= 0 || took < max(slowOfUsual*usual, slowAtLeast) {
		return 0
	}
	slots := p.shared
	if lane == models.ClassExpedited {
		slots = p.own
	}
	large := max(1, float64(bytes)/float64(max(l.usual, 1))) // it may take longer
	turns := (float64(took)/float64(usual)/large - 1) / slowShare
	most := float64(slowWait) / float64(usual) * float64(slots) / float64(1+len(l.places))
	return int64(max(0, min(turns, most)) * float64(turn(bytes)))
}

// foresee charges a request that gets a slot as if it took as long as the last one of its member. So a slow member
// does not take all slots before its first request ends. mu must be held.
func (p *Pool) foresee(s *Seat) {
	s.paid.extra = 0
	if s.bounded > 0 {
		return
	}
	took := min(p.lines[s.lane].pace.expected(s.member), p.lateAfter())
	s.paid.extra = p.extra(s.lane, s.bytes, took)
	if s.paid.extra > 0 {
		p.lines[s.lane].delay(&s.member.places[s.lane], s.paid.extra)
	}
}

// pay corrects the charge of foresee when a request ends, or gives up its slot. mu must be held.
func (p *Pool) pay(u *use, took time.Duration) {
	if u.work || u.late || u.trial > 0 {
		return
	}
	extra := int64(0)
	if !u.elsewhere {
		extra = p.extra(u.lane, u.bytes, took)
	}
	l, at := &p.lines[u.lane], &u.member.places[u.lane]
	if more := extra - u.paid.extra; more > 0 {
		l.delay(at, more)
	} else if more < 0 {
		l.refund(at, -more, u.paid.raised)
	}
}
