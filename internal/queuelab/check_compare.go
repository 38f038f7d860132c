package queuelab

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

// sameReceipt compares the answers to an Append. counted is false if the number of replaced records must not be
// compared, because it depends on whether expired leases were ended.
func sameReceipt(got, want queue.Receipt, counted bool) error {
	if got.Folded != want.Folded {
		return fmt.Errorf("receipt: %d folded, want %d", got.Folded, want.Folded)
	}
	if !counted {
		return nil
	}
	if got.Replaced != want.Replaced {
		return fmt.Errorf("receipt: %d replaced, want %d", got.Replaced, want.Replaced)
	}
	return same("piles of the receipt", showPiles(got.Piles), showPiles(want.Piles))
}

// sameLeases compares the results of Reserve; after a repeat, in any order.
func sameLeases(got, want []queue.Lease, repeated bool) error {
	have, expected := describe(got), describe(want)
	if repeated {
		slices.Sort(have)
		slices.Sort(expected)
	}
	return same("leases", strings.Join(have, "\n\t\t"), strings.Join(expected, "\n\t\t"))
}

func describe(leases []queue.Lease) (lines []string) {
	for i := range leases {
		l := &leases[i]
		lines = append(lines, fmt.Sprintf("%s expired %d, tries %d:%s", l.Key, l.Expired, l.Tries, showRecords(l.Records)))
	}
	return lines
}

// sameKeys compares leases by key and token.
func sameKeys(what string, got, want []queue.Lease) error {
	show := func(leases []queue.Lease) string {
		var lines []string
		for _, l := range leases {
			lines = append(lines, fmt.Sprintf("%s %x", l.Key, l.Token[:4]))
		}
		slices.Sort(lines)
		return strings.Join(lines, ", ")
	}
	return same(what, show(got), show(want))
}

func sameStats(got, want queue.Stats) error {
	show := func(s queue.Stats) string {
		return fmt.Sprintf("waiting %d, leased %d, parked %d, appended %d, replaced %d, folded %d, stale %d, expired %d, paused %v %q",
			s.Waiting, s.Leased, s.Parked, s.Appended, s.Replaced, s.Folded, s.Stale, s.Expired, s.Paused, s.PauseReason)
	}
	return same("stats", show(got), show(want))
}

// sameEntries compares the results of Inspect. Parked entries may be in any order: a key that killed holders may be
// parked at the end of its lease, or when that end is detected.
func sameEntries(got, want []queue.Entry) error {
	show := func(entries []queue.Entry) string {
		entries = slices.Clone(entries)
		slices.SortStableFunc(entries, func(a, b queue.Entry) int {
			if a.State&b.State&queue.Parked == 0 {
				return 0
			}
			return cmp.Compare(a.Key, b.Key)
		})
		var lines []string
		for i := range entries {
			lines = append(lines, showEntry(&entries[i]))
		}
		return strings.Join(lines, "\n\t\t")
	}
	return same("entries", show(got), show(want))
}

func showEntry(e *queue.Entry) string {
	moment := func(at time.Time) int64 {
		if at.IsZero() {
			return 0
		}
		return at.UnixMilli()
	}
	reason, parkedAt := e.Reason, moment(e.ParkedAt)
	if e.Deaths >= queue.MaxDeaths && reason != "" {
		reason, parkedAt = "in the words of the back end", 0
	}
	replaced := ""
	if e.Replaced != nil {
		replaced = string(e.Replaced.Body)
	}
	return fmt.Sprintf("%s state %d since %d; leased%s by %q until %d; parked%s for %q at %d; waiting%s due %d; replaced %q; expired %d, deaths %d, tries %d",
		e.Key, e.State, moment(e.Since), showRecords(e.Leased), e.Holder, moment(e.Until), showRecords(e.Parked), reason, parkedAt,
		showRecords(e.Waiting), moment(e.Due), replaced, e.Expired, e.Deaths, e.Tries)
}

func same(what, got, want string) error {
	if got != want {
		return fmt.Errorf("%s:\n\t\t%s\n\twant:\n\t\t%s", what, got, want)
	}
	return nil
}

func showRecords(records []queue.Record) string {
	var b strings.Builder
	for i := range records {
		r := &records[i]
		if i == 3 && len(records) > 5 {
			fmt.Fprintf(&b, " … (%d)", len(records))
			r = &records[len(records)-1]
		} else if i > 3 && len(records) > 5 {
			break
		}
		fmt.Fprintf(&b, " %s", cmp.Or(string(r.Op), "changed"))
		if len(r.Body) > 0 {
			fmt.Fprintf(&b, " %s", r.Body)
		}
		if r.Class > 0 {
			fmt.Fprintf(&b, " of class %d", r.Class)
		}
		if r.From.Number > 0 {
			fmt.Fprintf(&b, " (%x %d.%d)", r.From.Adder[:2], r.From.Number, r.From.Index)
		}
	}
	return b.String()
}

func showLeases(leases []queue.Lease) string {
	var parts []string
	for i := range leases {
		parts = append(parts, fmt.Sprintf("%s %x%s", leases[i].Key, leases[i].Token[:2], showRecords(leases[i].Records)))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func showEnds(ends []queue.End) string {
	var parts []string
	for i := range ends {
		e := &ends[i]
		parts = append(parts, fmt.Sprintf("%s %x %s done %d after %v again %v uncertain %v", e.Lease.Key, e.Lease.Token[:2],
			[]string{"", "commit", "release", "park"}[e.Fate], e.Done, e.After, e.Again, e.Uncertain))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func showCall(c *queue.Call) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%x %d:", c.Adder[:2], c.Number)
	for i := range c.Folds {
		fmt.Fprintf(&b, " fold %s by%s", c.Folds[i].Key, showRecords(c.Folds[i].Records))
	}
	for i := range c.Records {
		r := &c.Records[i]
		fmt.Fprintf(&b, " %s%s", r.Key, showRecords(c.Records[i:i+1]))
		if !r.Since.IsZero() {
			fmt.Fprintf(&b, " since %s", r.Since.UTC().Format("15:04:05.000"))
		}
		if i == 5 {
			fmt.Fprintf(&b, " … (%d)", len(c.Records))
			break
		}
	}
	return b.String()
}

func showPiles(piles []queue.Pile) string {
	var parts []string
	for i := range piles {
		parts = append(parts, fmt.Sprintf("%s %d%s", piles[i].Key, len(piles[i].Records), showRecords(piles[i].Records)))
	}
	return strings.Join(parts, ", ")
}
