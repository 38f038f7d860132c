package redisqueue

import (
	"context"
	"errors"
	"slices"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

// named reserves the keys of Want.Only.
func (q *Queue) named(ctx context.Context, want *queue.Want, ends []queue.End) (leases, stale, failed []queue.Lease, err error) {
	byShard := divide(q, want.Only, func(k *string) string { return *k })
	left, now := want.Bytes, q.now()
	for shard, keys := range byShard {
		n, part := 0, 0
		for chunk := range slices.Chunk(keys, perScript) {
			for len(chunk) > 0 {
				q.held.tries(want.Token, shard)
				got, st, late, err := q.exchange(ctx, shard, ends, &ask{want: want, part: part, bytes: max(left, 0), first: len(leases) == 0, only: chunk, note: len(q.shards) == 1 && part == 0})
				if err != nil && len(leases) > 0 {
					return leases, stale, nil, nil
				}
				if err != nil {
					return nil, stale, leasesOf(ends), err
				}
				part++
				q.released(ends)
				stale, ends = append(stale, late...), nil
				if st.known {
					leases, _, _, err = q.again(ctx, want, nil, q.unsure(want))
					return leases, stale, nil, err
				}
				leases = append(leases, got...)
				n += len(got)
				for j := range got {
					left -= size(&got[j])
				}
				q.held.leased(want, shard, n, now)
				if len(got) == 0 {
					break
				}
				// Keys that did not fit into one script follow in the next; keys that cannot be leased may be asked for
				// again.
				last := slices.Index(chunk, got[len(got)-1].Key)
				chunk = chunk[last+1:]
			}
		}
	}
	return leases, stale, nil, nil
}

// unsure returns the scripts per shard, at most, of a reservation. Another object may have made it. It is recorded
// for the next repeat, in place of the scripts that this call has tried.
func (q *Queue) unsure(want *queue.Want) map[int]int {
	tried := map[int]int{}
	for s := range q.shards {
		tried[s] = min(1+max(want.Keys, len(want.Only))/perScript+want.Bytes/scriptBytes, 64)
	}
	q.held.tried(want.Token, tried)
	return tried
}

// again returns the leases of a reservation whose answer was lost.
func (q *Queue) again(ctx context.Context, want *queue.Want, ends []queue.End, tried map[int]int) (leases, stale, failed []queue.Lease, err error) {
	var errs []error
	for shard := range q.shards {
		for part := range tried[shard] {
			turn, done := q.turn(ctx)
			got, _, late, err := q.exchange(turn, shard, ends, &ask{want: want, part: part, repeat: true, first: true})
			done()
			if err != nil && len(q.shards) > 1 && ctx.Err() == nil {
				errs = append(errs, err)
				break
			}
			if err != nil {
				return nil, stale, leasesOf(ends), err
			}
			stale, ends = append(stale, late...), nil
			leases = append(leases, got...)
		}
	}
	if len(ends) > 0 {
		late, lost, err := q.settle(ctx, ends)
		return leases, append(stale, late...), lost, err
	}
	if err := errors.Join(errs...); err != nil && len(leases) == 0 {
		return nil, stale, nil, err
	}
	return leases, stale, nil, nil
}
