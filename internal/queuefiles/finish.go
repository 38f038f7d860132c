package queuefiles

import (
	"fmt"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

func distinct(keys []string) []string {
	slices.Sort(keys)
	return slices.Compact(keys)
}

// finish drains the queue and opens it twice more: no record may come back, and the disk must be free.
func (r *round) finish() error {
	if _, err := r.do(&call{What: resuming}); err != nil {
		return err
	}
	if r.ballast && r.chance(50) {
		if err := r.empty(); err != nil {
			return err
		}
	}
	if !r.ballast {
		var parked []string
		for _, e := range r.worlds[0].Inspect(time.Now(), queue.Inspection{States: queue.Parked, Limit: 1 << 20}) {
			parked = append(parked, e.Key)
		}
		if _, err := r.do(&call{What: unparking, Keys: parked}); err != nil {
			return err
		}
	}
	for only := false; ; {
		want := queue.Want{Token: r.id(), Holder: r.holder, Name: "drain", Keys: 1 + r.rnd.IntN(100), Bytes: 1 << 20, For: time.Hour}
		if only { // delayed keys and suspects need Only
			for key := range r.keys {
				want.Only = append(want.Only, key)
			}
			slices.Sort(want.Only)
		}
		if err := r.reserveAs(&call{What: reserving, Want: want}); err != nil {
			return err
		}
		if len(r.leases) == 0 && only {
			break
		}
		only = len(r.leases) == 0
		var ends []queue.End
		for _, l := range r.leases {
			ends = append(ends, queue.End{Lease: queue.Lease{Key: l.Key, Token: l.Token}, Fate: queue.Commit})
		}
		r.leases = nil
		if _, err := r.do(&call{What: settling, Ends: ends}); err != nil {
			return err
		}
	}
	if r.ballast {
		r.held("a drain on a full disk")
	}
	if len(r.worlds[0].Inspect(time.Now(), everything)) == 0 {
		for i, at := range r.positions {
			if a, err := r.do(&call{What: settled, At: i, Real: at}); err != nil {
				return err
			} else if !a.Settled {
				return fmt.Errorf("settled %q after the drain: got false, want true", at)
			}
		}
		r.held("every position is settled after the drain")
	}
	for range 2 {
		if err := r.look(); err != nil {
			return err
		}
		if err := r.bounded(); err != nil {
			return err
		}
		if _, err := r.do(&call{What: closing}); err != nil {
			return err
		}
		if _, err := r.do(&call{What: opening, Dir: r.dir, Segment: r.segment}); err != nil {
			return err
		}
	}
	return nil
}
