package queuehistory

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/queuelab"
)

// call is one call of a history: Append, Reserve, Settle, Extend, or Exchange.
type call struct {
	now    time.Time
	append *queue.Call
	want   *queue.Want
	ends   []queue.End
	extend []queue.Lease
	d      time.Duration
}

// answer is the answer to a call, as text for comparison.
type answer struct {
	text string
	// anyStale: the call was repeated, so ends may be stale that were not the first time.
	anyStale bool
}

// String describes the call.
func (c *call) String() string {
	switch {
	case c.append != nil:
		var parts []string
		for _, r := range c.append.Records {
			parts = append(parts, fmt.Sprintf("%s %s %s", r.Key, r.Op, r.Body))
		}
		return "append " + strings.Join(parts, ", ")
	case c.extend != nil:
		return fmt.Sprintf("extend %s by %v", showLeases(c.extend), c.d)
	}
	s := ""
	for _, e := range c.ends {
		s += fmt.Sprintf("%s %x of %s, ", []string{"", "commit", "release", "park"}[e.Fate], e.Lease.Token[:2], e.Lease.Key)
	}
	if c.want != nil {
		s += fmt.Sprintf("%s reserves %d keys as %x", c.want.Name, c.want.Keys, c.want.Token[:2])
	}
	return strings.TrimSuffix(s, ", ")
}

// on makes the call on a model.
func (c *call) on(m *queuelab.Model) (string, error) {
	switch {
	case c.append != nil:
		receipt, err := m.Append(c.now, *c.append)
		return showReceipt(receipt), err
	case c.extend != nil:
		lost, err := m.Extend(c.now, c.d, c.extend...)
		return showKeys("lost", lost), err
	case c.want == nil:
		stale, err := m.Settle(c.now, c.ends...)
		return showKeys("stale", stale), err
	case c.ends == nil:
		leases, err := m.Reserve(c.now, *c.want)
		return showLeases(leases), err
	}
	leases, stale, err := m.Exchange(c.now, *c.want, c.ends...)
	return showLeases(leases) + ", " + showKeys("stale", stale), err
}

// model is the sequential specification: queuelab.Model. It is not partitioned by key, because a Reserve depends on all
// keys.
func model() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return &state{Model: queuelab.NewModel()} },
		Step: func(before, input, output any) (bool, any) {
			m := &state{Model: before.(*state).Clone()}
			want, err := input.(*call).on(m.Model)
			got := output.(answer)
			if got.anyStale {
				leases, _, _ := strings.Cut(got.text, "stale")
				expected, _, _ := strings.Cut(want, "stale")
				return err == nil && leases == expected, m
			}
			return err == nil && got.text == want, m
		},
		Equal: func(a, b any) bool { return a.(*state).String() == b.(*state).String() },
	}
}

// state is a state reached by the search. It is compared with many others and never changed, so its text is computed
// once; otherwise that would take nearly all the time of the search.
type state struct {
	*queuelab.Model
	text string
}

func (s *state) String() string {
	if s.text == "" {
		s.text = s.Model.String()
	}
	return s.text
}

func showReceipt(r queue.Receipt) string { return fmt.Sprintf("%d replaced", r.Replaced) }

func showLeases(leases []queue.Lease) string {
	var parts []string
	for _, l := range leases {
		part := fmt.Sprintf("%s %x expired %d tries %d:", l.Key, l.Token[:2], l.Expired, l.Tries)
		for _, r := range l.Records {
			part += fmt.Sprintf(" %s %s", r.Op, r.Body)
		}
		parts = append(parts, part)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// showKeys ignores the order of the leases.
func showKeys(what string, leases []queue.Lease) string {
	leases = slices.Clone(leases)
	slices.SortFunc(leases, func(a, b queue.Lease) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), slices.Compare(a.Token[:], b.Token[:]))
	})
	var parts []string
	for _, l := range leases {
		parts = append(parts, fmt.Sprintf("%s %x", l.Key, l.Token[:2]))
	}
	return what + " [" + strings.Join(parts, ", ") + "]"
}
