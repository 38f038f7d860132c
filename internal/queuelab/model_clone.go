package queuelab

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

// Clone returns a model in the same state, which then changes independently.
func (m *Model) Clone() *Model {
	c := *m
	c.adders, c.company = maps.Clone(m.adders), maps.Clone(m.company)
	c.reservations = map[queue.ID]*reservation{}
	for token, r := range m.reservations {
		copied := *r
		c.reservations[token] = &copied
	}
	c.keys = map[string]*entry{}
	for k, e := range m.keys {
		copied := *e
		copied.pile, copied.leased, copied.parked = slices.Clone(e.pile), slices.Clone(e.leased), slices.Clone(e.parked)
		if e.lease != nil {
			copied.lease = c.reservations[e.lease.token]
		}
		c.keys[k] = &copied
	}
	return &c
}

// String describes everything on which a later call can depend: two models with the same description are in the same
// state.
func (m *Model) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "arrivals %d, seq %d, generation %d, alone %d, paused %v\n",
		m.arrivals, m.seq, m.generation, m.alone.UnixNano(), m.paused)
	for _, k := range slices.Sorted(maps.Keys(m.keys)) {
		e := m.keys[k]
		fmt.Fprintf(&b, "%s pile %v, leased %v, parked %v, places %v %v %v, due %d, uncertain %d, %d expired, %d deaths, %d tries, replaced %v",
			k, e.pile, e.leased, e.parked, e.place, e.leasedPlace, e.parkedPlace, e.due.UnixNano(), e.uncertain.UnixNano(), e.expired, e.deaths, e.tries, e.replaced)
		if len(e.leased) > 0 {
			fmt.Fprintf(&b, ", until %d, requested %v, lease %v, company %v", e.until.UnixNano(), e.requested, *e.lease, m.company[e.lease.holder])
		}
		b.WriteByte('\n')
	}
	for _, id := range slices.SortedFunc(maps.Keys(m.adders), func(a, b queue.ID) int { return slices.Compare(a[:], b[:]) }) {
		fmt.Fprintf(&b, "adder %x %d\n", id, m.adders[id].number)
	}
	return b.String()
}
