package publisher

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// story is a sequence of refusals, one step per second.
type story struct {
	name  string
	steps func(r *refusals, tick func() instant)
	many  bool
}

func TestTwentyKeysInARowForOneReasonAreMany(t *testing.T) {
	refuse := func(r *refusals, n int, reason string, tick func() instant) {
		for i := range n {
			r.refused(reason, fmt.Sprint(reason, i), tick())
		}
	}
	for _, s := range []story{
		{"nothing", func(*refusals, func() instant) {}, false},
		{"nineteen", func(r *refusals, tick func() instant) { refuse(r, 19, "type", tick) }, false},
		{"twenty", func(r *refusals, tick func() instant) { refuse(r, 20, "type", tick) }, true},
		{"one key twenty times", func(r *refusals, tick func() instant) {
			for range 20 {
				r.refused("type", "k", tick())
			}
		}, false},
		{"two reasons in turn", func(r *refusals, tick func() instant) {
			for i := range 20 {
				r.refused("type", fmt.Sprint(i), tick())
				r.refused("size", fmt.Sprint(i), tick())
			}
		}, false},
		{"one applied in between", func(r *refusals, tick func() instant) {
			refuse(r, 19, "type", tick)
			r.applied(tick(), tick())
			refuse(r, 19, "type", tick)
		}, false},
		{"one applied that left before the refusals were many", func(r *refusals, tick func() instant) {
			left := tick()
			refuse(r, 20, "type", tick)
			r.applied(left, tick())
		}, true},
		{"one applied that left afterwards", func(r *refusals, tick func() instant) {
			refuse(r, 20, "type", tick)
			r.applied(tick(), tick())
		}, false},
		{"that reason is not trusted for a minute", func(r *refusals, tick func() instant) {
			refuse(r, 20, "type", tick)
			r.applied(tick(), tick())
			refuse(r, 40, "type", tick)
		}, false},
		{"another reason is trusted", func(r *refusals, tick func() instant) {
			refuse(r, 20, "type", tick)
			r.applied(tick(), tick())
			refuse(r, 20, "size", tick)
		}, true},
		{"the reason is trusted again after a minute", func(r *refusals, tick func() instant) {
			refuse(r, 20, "type", tick)
			r.applied(tick(), tick())
			refuse(r, 60+20, "type", tick)
		}, true},
	} {
		t.Run(s.name, func(t *testing.T) {
			var r refusals
			now := instant(0)
			s.steps(&r, func() instant { now += time.Second; return now })
			assert.Equal(t, s.many, r.many())
			assert.LessOrEqual(t, len(r.keys), manyKeys, "the record stays bounded")
		})
	}
}

// Probes alternate between the newest action and any other place, and use none twice.
func TestProbesGoElsewhere(t *testing.T) {
	p := newPending[int]()
	const n = 100
	for i := range n {
		p.add(Item[int]{Key: fmt.Sprint("k-", i)}, uint64(i+1), 0)
	}
	var order []uint64
	for tried := range n {
		r := p.takeElsewhere(0, n, tried, false)
		p.at(r).probes++
		order = append(order, p.at(r).seq)
		p.retry(r, 0)
		p.promote(0)
	}
	assert.Equal(t, none, p.takeElsewhere(0, n, n, false), "all items have been tried")
	assert.EqualValues(t, n, order[0], "the newest")
	assert.EqualValues(t, 1, order[2], "the oldest")
	assert.EqualValues(t, n-1, order[3])
	first := map[uint64]bool{}
	for _, seq := range order {
		first[seq] = true
	}
	assert.Len(t, first, n)
	quarters := map[uint64]bool{}
	for _, seq := range order[:10] {
		quarters[(seq-1)/25] = true
	}
	assert.Len(t, quarters, 4, "ten probes have been everywhere: %v", order[:10])
	assert.Equal(t, none, newPending[int]().takeElsewhere(0, 0, 0, false))
}
