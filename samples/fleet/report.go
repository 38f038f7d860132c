package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/go-azsearch/azsearch/bufferedsender/pool"
)

// report prints how long everything took, and what was lost.
func (s *story) report() {
	all, unwell := s.allWrites(), s.ledger.writes(sick)
	fmt.Fprintf(s.out, "\n%-12s %9s %23s   %s\n", "class", "documents", "from adding to outcome", "waiting for a slot of the pool")
	for _, class := range []pool.Class{live, steady, backfill} {
		took := times(all, func(w *write) bool { return w.class == class })
		queued := s.fleet.Pool().QueueTimes(class)
		fmt.Fprintf(s.out, "%-12v %9d   p50 %6s, p99 %6s   p50 %6s, p99 %6s\n",
			class, len(took), ms(percentile(took, 50)), ms(percentile(took, 99)), ms(queued.Quantile(0.5)), ms(queued.Quantile(0.99)))
	}
	fmt.Fprintf(s.out, "(documents of the indexes that were well)\n\n")
	for _, during := range []bool{false, true} {
		took := times(all, func(w *write) bool { return w.class == live && w.backfilling == during })
		fmt.Fprintf(s.out, "live updates %s the backfill: p50 %6s, p99 %6s\n", word(during, "with   ", "without"), ms(percentile(took, 50)), ms(percentile(took, 99)))
	}
	longest := times(unwell, func(*write) bool { return true })
	fmt.Fprintf(s.out, "%q, which answered 503, was at most %s late\n\n", sick, ms(percentile(longest, 100)))
	s.reportLost()
}

// allWrites returns the writes to all indexes that were well.
func (s *story) allWrites() (all []*write) {
	for _, name := range s.service.names {
		if name != sick && name != doomed {
			all = append(all, s.ledger.writes(name)...)
		}
	}
	return all
}

// reportLost says of each index what was accepted and is not in it, one by one.
func (s *story) reportLost() {
	whole := 0
	for _, name := range s.service.names {
		writes := s.ledger.writes(name)
		lost := slices.DeleteFunc(slices.Clone(writes), (*write).completed)
		if len(lost) == 0 {
			whole++
			continue
		}
		fmt.Fprintf(s.out, "%q has lost %d of %d accepted documents:\n", name, len(lost), len(writes))
		if drop := s.dropped[name]; drop != nil {
			fmt.Fprintf(s.out, "  Drop has reported %d unsent, %d unknown and %d failed\n", drop.Unsent, drop.Unknown, drop.Failed)
		}
		for _, w := range lost {
			fmt.Fprintf(s.out, "  %s, version %d: %s\n", w.item.ID, w.item.Version, w.fate())
		}
	}
	fmt.Fprintf(s.out, "%d of %d indexes have lost nothing\n", whole, len(s.service.names))
}

// fate says how a write that was not completed has ended.
func (w *write) fate() string {
	if len(w.outcomes) == 0 {
		return "NO OUTCOME"
	}
	o := w.outcomes[0]
	if answer, ok := errors.AsType[*azcore.ResponseError](o.Err); ok { // why nothing was sent to the index
		return fmt.Sprintf("%v, while the index answered %d", o.Reason, answer.StatusCode)
	}
	return fmt.Sprintf("%v: %v", o.Reason, o.Err)
}

func ms(d time.Duration) string { return fmt.Sprintf("%.0f ms", float64(d)/float64(time.Millisecond)) }

func word(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}
