package pool

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/models"
)

// asked is a waiting question in the model.
type asked struct {
	seat   *Seat
	member string
	class  models.Class
	fresh  bool           // its member owed nothing in the lane when it asked for a slot
	passed map[string]int // number of slots of the lane that each member got while this was the first request of its own
	woken  bool           // woken and not yet answered
	slot   Slot
}

// model records what one goroutine does with a pool, and checks the invariants.
type model struct {
	*rapid.T
	p       *Pool
	members map[string]*Member
	known   map[string]bool // members with recent replies
	waiting []*asked        // in order
	held    []*asked
	grants  int
	asks    int
	gone    int // gave up, refused or left
}

// granted records a granted slot, and checks the guarantees for the waiting ones.
func (m *model) granted(a *asked) {
	m.grants++
	m.held = append(m.held, a)
	lane, _ := m.p.lane(a.class)
	heads := map[string]bool{}
	for _, w := range m.waiting {
		other, _ := m.p.lane(w.class)
		if w == a || w.woken {
			continue
		}
		head := fmt.Sprint(w.member, other)
		if heads[head] {
			continue
		}
		heads[head] = true
		if other == lane && w.member != a.member {
			if w.passed[a.member]++; w.fresh && w.passed[a.member] > 1 {
				m.Fatalf("%s in %v was passed twice by %s", w.member, w.class, a.member)
			}
		}
	}
}

func (m *model) settle() {
	for again := true; again; {
		again = false
		for i, a := range m.waiting {
			if !a.woken {
				continue
			}
			a.woken = false
			slot, ok, err := a.seat.Ask(a.class, a.seat.bytes)
			m.waiting = append(m.waiting[:i:i], m.waiting[i+1:]...)
			again = true
			switch {
			case ok:
				a.slot = slot
			case errors.Is(err, ErrLeft), errors.Is(err, ErrShutdown):
				m.gone++
			default:
				m.Fatalf("woken, and %v, %v", ok, err)
			}
			break
		}
	}
	m.check()
}

// check checks the invariants after every step.
func (m *model) check() {
	p := m.p
	p.mu.Lock()
	defer p.mu.Unlock()
	lent := 0
	for lane := range p.lines {
		if lane > 0 {
			lent += p.inUse[lane]
		}
		if p.inUse[lane] < 0 {
			m.Fatalf("%d in use in %v", p.inUse[lane], models.Class(lane))
		}
		if p.awaits(models.Class(lane)) && p.free(models.Class(lane)) && !p.closed {
			m.Fatalf("%d wait in %v, and a slot is free", len(p.lines[lane].places), models.Class(lane))
		}
	}
	if lent+p.inUse[0] != len(m.held) {
		m.Fatalf("%d and %d are in use, %d are held", p.inUse[0], lent, len(m.held))
	}
	n := 0
	for _, l := range p.lines {
		n += l.waiting
	}
	for _, who := range m.members {
		for lane := range who.places {
			if place := &who.places[lane]; place.first != nil && place.at == 0 && who.out[lane] == 0 {
				m.Fatalf("a member that has nothing out may not have a slot in %v", models.Class(lane))
			}
		}
	}
	if n != len(m.waiting) {
		m.Fatalf("%d wait, and should be %d", n, len(m.waiting))
	}
	if m.asks != m.grants+m.gone+len(m.waiting) {
		m.Fatalf("%d questions, %d slots, %d gone, %d wait", m.asks, m.grants, m.gone, len(m.waiting))
	}
}

func TestRandomPoolsKeepTheirPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := Options{
			Expedited: rapid.IntRange(1, 3).Draw(t, "expedited"), Shared: rapid.IntRange(1, 4).Draw(t, "shared"),
		}
		o.late = time.Hour
		p, err := New(&o)
		require.NoError(t, err)
		m := &model{T: t, p: p, members: map[string]*Member{}, known: map[string]bool{}}
		names := []string{"a", "b", "c", "d"}
		member := func() (string, *Member) {
			name := rapid.SampledFrom(names).Draw(t, "member")
			if m.members[name] == nil {
				joined, err := p.Join(name)
				require.NoError(t, err)
				if m.known[name] = rapid.Bool().Draw(t, "well known"); m.known[name] {
					wellKnown(joined)
				}
				m.members[name] = joined
			}
			return name, m.members[name]
		}
		t.Repeat(map[string]func(*rapid.T){
			"ask": func(t *rapid.T) {
				name, who := member()
				a := &asked{member: name, class: models.Class(rapid.IntRange(0, classes-1).Draw(t, "class")), passed: map[string]int{}}
				lane, _ := p.lane(a.class)
				a.fresh = m.known[name] && who.places[lane].first == nil && who.places[lane].tag <= p.lines[lane].tag
				a.seat = who.Seat(func() { a.woken = true; m.told(a) })
				m.asks++
				p.mu.Lock()
				others := p.awaits(lane)
				p.mu.Unlock()
				slot, ok, err := a.seat.Ask(a.class, rapid.Int64Range(1, 100).Draw(t, "bytes"))
				require.NoError(t, err)
				if ok && others {
					t.Fatalf("%s has the slot in %v that others wait for", name, a.class)
				}
				if ok {
					a.slot = slot
					m.granted(a)
				} else {
					m.waiting = append(m.waiting, a)
				}
				m.settle()
			},
			"release": func(t *rapid.T) {
				if len(m.held) == 0 {
					t.Skip("no slot is held")
				}
				i := rapid.IntRange(0, len(m.held)-1).Draw(t, "slot")
				a := m.held[i]
				m.held = append(m.held[:i:i], m.held[i+1:]...)
				if rapid.IntRange(0, 4).Draw(t, "give back") == 0 {
					a.slot.GiveBack()
				} else {
					a.slot.Release(rapid.IntRange(0, 4).Draw(t, "answered") > 0)
				}
				m.settle()
			},
			"cancel": func(t *rapid.T) {
				if len(m.waiting) == 0 {
					t.Skip("no member waits")
				}
				i := rapid.IntRange(0, len(m.waiting)-1).Draw(t, "seat")
				a := m.waiting[i]
				m.waiting = append(m.waiting[:i:i], m.waiting[i+1:]...)
				a.seat.Cancel()
				m.gone++
				m.settle()
			},
			"limit": func(t *rapid.T) {
				p.SetLimit(rapid.IntRange(0, 5).Draw(t, "limit"), 0)
				m.settle()
			},
			"set": func(t *rapid.T) {
				require.NoError(t, p.SetOptions(Options{Expedited: rapid.IntRange(1, 3).Draw(t, "expedited"), Shared: rapid.IntRange(1, 4).Draw(t, "shared"), late: time.Hour}))
				m.settle()
			},
			"leave": func(t *rapid.T) {
				if rapid.IntRange(0, 3).Draw(t, "seldom") > 0 {
					t.Skip("seldom")
				}
				name, who := member()
				delete(m.members, name)
				who.Leave()
				m.settle()
			},
		})
		for len(m.held) > 0 { // until all have had a slot
			a := m.held[0]
			m.held = m.held[1:]
			a.slot.Release(true)
			m.settle()
		}
		require.Empty(t, m.waiting)
	})
}

// This handles the call of a seat: it has a slot, unless its member has left.
func (m *model) told(a *asked) {
	if a.seat.state == seatGranted {
		m.granted(a)
	}
}

// At a limit of one a class waits for at most ten turns of others, whatever arrives meanwhile.
func TestAtALimitOfOneNoClassWaitsForMoreThanTenTurns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, err := New(&Options{late: time.Hour})
		require.NoError(t, err)
		p.SetLimit(1, 0)
		member, err := p.Join("m")
		require.NoError(t, err)
		wellKnown(member)
		var slot Slot
		var waiting, since [classes]int
		comes := func(c models.Class) {
			var seat *Seat
			seat = member.Seat(func() {
				slot, _, _ = seat.Ask(c, 1)
				waiting[c]--
				since[c] = 0
				for other := range since {
					if models.Class(other) != c && waiting[other] > 0 {
						since[other]++
					}
				}
			})
			if got, ok, _ := seat.Ask(c, 1); ok {
				slot = got
				return
			}
			waiting[c]++
		}
		for range 200 {
			for range rapid.IntRange(0, 3).Draw(t, "arrivals") {
				comes(models.Class(rapid.IntRange(0, classes-1).Draw(t, "class")))
			}
			slot.Release(true)
			for c, n := range since {
				if n > 2*(classes-1) {
					t.Fatalf("%v has waited for %d turns", models.Class(c), n)
				}
			}
		}
	})
}

// All at once, for the race detector: never more run than there are slots.
func TestManyAtOnce(t *testing.T) {
	p := newPool(t, slots(2, 3))
	var atWork [2]atomic.Int64
	var group sync.WaitGroup
	for i := range 16 {
		m := join(t, p, fmt.Sprint(i))
		group.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(i)))
			for range 500 {
				class := models.Class(r.IntN(classes))
				side := min(int(class), 1)
				work := func(context.Context) error {
					if n := atWork[side].Add(1); n > int64(2+side) {
						t.Errorf("%d jobs run", n)
					}
					if r.IntN(4) == 0 {
						time.Sleep(time.Microsecond)
					}
					atWork[side].Add(-1)
					return nil
				}
				ctx, cancel := context.WithCancel(t.Context())
				if r.IntN(3) == 0 {
					time.AfterFunc(time.Duration(r.IntN(100))*time.Microsecond, cancel)
				}
				if err := m.Do(ctx, class, work); err != nil && !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
				cancel()
			}
		})
	}
	group.Wait()
	s := p.Stats()
	for c := range s.Classes {
		require.Zero(t, s.Classes[c].InUse+s.Classes[c].Waiting)
	}
	require.NoError(t, p.Shutdown(t.Context()))
}
