package redisqueue

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/rediskit"
)

// classScale is the amount that a class adds to the score of a place; shard.lua has the same value.
const classScale = 1 << 42

// Stats implements queue.Queue. It reads one shard after the other. Oldest is Estimated while more than a thousand keys
// of a shard are leased, or not due.
func (q *Queue) Stats(ctx context.Context) (s queue.Stats, err error) {
	if err := q.begin(ctx); err != nil {
		return s, err
	}
	defer q.end()
	oldest := int64(-1)
	for shard := range q.shards {
		r, err := q.again3(ctx, statsScript, shard)
		if err != nil {
			return s, err
		}
		s.Waiting += r.Int()
		s.Leased += r.Int()
		parked := r.Int()
		s.Parked += parked
		s.Bytes += r.Int()
		if place := r.Int(); place >= 0 && (oldest < 0 || place < oldest) {
			oldest = place
		}
		s.Appended += r.Int()
		s.Replaced += r.Int()
		s.Folded += r.Int()
		s.Stale += r.Int()
		s.Expired += r.Int()
		if ms := r.Int(); ms > 0 && time.UnixMilli(ms).After(s.LastReserved) {
			s.LastReserved = time.UnixMilli(ms)
		}
		paused, reason := r.Int() == 1, r.Text()
		if paused && !s.Paused {
			s.Paused, s.PauseReason = true, reason
		}
		s.Estimated = r.Int() == 1 || s.Estimated
		bytes := r.Int()
		if r.Err != nil {
			return s, r.Err
		}
		q.parked(shard, parked, bytes)
	}
	s.Estimated = s.Estimated || len(q.shards) > 1
	if oldest >= 0 {
		s.Oldest = time.UnixMilli(oldest % classScale)
	}
	return s, nil
}

// again3 runs a script until its state is not 3, which means that it has only ended expired leases.
func (q *Queue) again3(ctx context.Context, s *redis.Script, shard int, args ...any) (*rediskit.Reader, error) {
	for {
		r, err := q.on(ctx, s, shard, args...)
		if err != nil {
			return nil, err
		}
		if r.Int() != 3 {
			return r, r.Err
		}
	}
}

// Contains implements queue.Membership.
func (q *Queue) Contains(ctx context.Context, keys ...string) ([]bool, error) {
	if err := q.begin(ctx); err != nil {
		return nil, err
	}
	defer q.end()
	byShard := divide(q, keys, func(k *string) string { return *k })
	there := map[string]bool{}
	for s, its := range byShard {
		for chunk := range slices.Chunk(its, perScript) {
			found, err := q.peek(ctx, s, chunk, "")
			if err != nil {
				return nil, err
			}
			for i := range found {
				there[found[i].Key] = found[i].State != 0
			}
		}
	}
	out := make([]bool, len(keys))
	for i, k := range keys {
		out[i] = there[k]
	}
	return out, nil
}

// peek reads entries: with bodies ("1"), without bodies ("0"), or without records ("").
func (q *Queue) peek(ctx context.Context, shard int, keys []string, bodies string) (entries []entry, err error) {
	args := []any{"get", bodies}
	for _, k := range keys {
		args = append(args, k)
	}
	r, err := q.on(ctx, peekScript, shard, args...)
	if err != nil {
		return nil, err
	}
	now := shardTime{r.Int(), r.Int()}
	for r.More() {
		e, err := parseEntry(r.Text(), r.Text(), now)
		if err != nil {
			return nil, err
		}
		if holder := r.Text(); holder != "" || e.State&queue.Leased != 0 {
			e.Holder = holder
		}
		if bodies != "" {
			e.fill(r, bodies == "1")
		}
		entries = append(entries, e)
	}
	return entries, r.Err
}

// Inspect implements queue.Admin. Unless what.Keys is set, it reads the whole queue, a thousand keys at a time; a
// concurrent change may or may not be included.
func (q *Queue) Inspect(ctx context.Context, what queue.Inspection) ([]queue.Entry, error) {
	if err := q.begin(ctx); err != nil {
		return nil, err
	}
	defer q.end()
	limit := what.Limit
	if limit <= 0 {
		limit = 100
	}
	var found []entry
	take := func(e entry) {
		if e.State == 0 || what.States != 0 && e.State&what.States == 0 {
			return
		}
		found = append(found, e)
		if (len(found)-1000)/4 > limit {
			slices.SortFunc(found, compareEntries)
			found = found[:limit]
		}
	}
	byShard := divide(q, what.Keys, func(k *string) string { return *k })
	for s := range q.shards {
		if what.Keys != nil && len(byShard[s]) == 0 {
			continue
		}
		if _, err := q.again3(ctx, peekScript, s, "end"); err != nil {
			return nil, err
		}
		if what.Keys != nil {
			for chunk := range slices.Chunk(byShard[s], perScript) {
				its, err := q.peek(ctx, s, chunk, "")
				if err != nil {
					return nil, err
				}
				for _, e := range its {
					take(e)
				}
			}
			continue
		}
		if err := q.scan(ctx, s, take); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(found, compareEntries)
	found = slices.CompactFunc(found, func(a, b entry) bool { return a.Key == b.Key }) // a scan can return a key twice
	return q.complete(ctx, found[:min(len(found), limit)], what.Bodies)
}

// complete reads the records of entries, which it returns in the same order, without those that are gone.
func (q *Queue) complete(ctx context.Context, found []entry, bodies bool) ([]queue.Entry, error) {
	atOnce, mode := perScript, "0"
	if bodies {
		atOnce, mode = 1, "1" // bodies are large
	}
	keys := make([]string, len(found))
	for i := range found {
		keys[i] = found[i].Key
	}
	byKey := make(map[string]queue.Entry, len(found))
	for s, its := range divide(q, keys, func(k *string) string { return *k }) {
		for chunk := range slices.Chunk(its, atOnce) {
			entries, err := q.peek(ctx, s, chunk, mode)
			if err != nil {
				return nil, err
			}
			for i := range entries {
				if entries[i].State != 0 {
					byKey[entries[i].Key] = entries[i].Entry
				}
			}
		}
	}
	var out []queue.Entry
	for _, k := range keys {
		if e, ok := byKey[k]; ok {
			out = append(out, e)
		}
	}
	return out, nil
}

// scan passes all entries of a shard to take.
func (q *Queue) scan(ctx context.Context, shard int, take func(entry)) error {
	for cursor := "0"; ; {
		r, err := q.on(ctx, peekScript, shard, "scan", cursor)
		if err != nil {
			return err
		}
		now := shardTime{r.Int(), r.Int()}
		cursor = r.Text()
		for r.More() {
			e, err := parseEntry(r.Text(), r.Text(), now)
			if err != nil {
				return err
			}
			take(e)
		}
		if r.Err != nil {
			return r.Err
		}
		if cursor == "0" {
			return nil
		}
	}
}

// Park implements queue.Admin.
func (q *Queue) Park(ctx context.Context, reason string, keys ...string) (int, error) {
	reason = reason[:min(len(reason), longReason)]
	return q.admin(ctx, "park", reason, keys)
}

// Unpark implements queue.Admin.
func (q *Queue) Unpark(ctx context.Context, keys ...string) (int, error) {
	return q.admin(ctx, "unpark", "", keys)
}

// Drop implements queue.Admin.
func (q *Queue) Drop(ctx context.Context, keys ...string) (int, error) {
	return q.admin(ctx, "drop", "", keys)
}

func (q *Queue) admin(ctx context.Context, what, reason string, keys []string) (n int, err error) {
	if err := q.begin(ctx); err != nil {
		return 0, err
	}
	defer q.end()
	byShard := divide(q, keys, func(k *string) string { return *k })
	for s, its := range byShard {
		for chunk := range scripts(its, len(keys) == 0) {
			args := []any{what, reason}
			for _, k := range chunk {
				args = append(args, k)
			}
			r, err := q.again3(ctx, adminScript, s, args...)
			if err != nil {
				return n, err
			}
			if n += int(r.Int()); r.Err != nil {
				return n, r.Err
			}
		}
	}
	q.wake()
	return n, nil
}

// Pause implements queue.Admin.
func (q *Queue) Pause(ctx context.Context, reason string) error { return q.each(ctx, "pause", reason) }

// Resume implements queue.Admin.
func (q *Queue) Resume(ctx context.Context) error { return q.each(ctx, "resume", "") }

func (q *Queue) each(ctx context.Context, what, reason string) error {
	if err := q.begin(ctx); err != nil {
		return err
	}
	defer q.end()
	for s := range q.shards {
		if _, err := q.again3(ctx, adminScript, s, what, reason); err != nil {
			return err
		}
	}
	q.wake()
	return nil
}

// Destroy implements queue.Admin. The first shard goes last: until then the queue can be opened and destroyed again.
func (q *Queue) Destroy(ctx context.Context) error {
	if err := q.begin(ctx); err != nil {
		return err
	}
	err := func() error {
		defer q.end()
		for s := len(q.shards) - 1; s >= 0; s-- {
			answer, err := q.ask(ctx, destroyScript, s, q.shards[s].epoch)
			if err != nil {
				return err
			}
			if answer != int64(0) && answer != int64(1) { // 0: the shard was made again since
				return rediskit.ErrAnswer
			}
		}
		return nil
	}()
	if err != nil {
		return err
	}
	return q.Close()
}

// Repaired is the result of Repair.
type Repaired struct {
	// Keys is the number of keys in the queue.
	Keys int64
	// Lost is the number of records that were gone, or that named no key. If it is not 0, Settled returns queue.ErrLost
	// for each earlier Position.
	Lost int64
	// Gone are the Redis keys that had been deleted or evicted. If a key that ends with ":a" is gone, a repeated Append
	// may be applied twice; if ":k" is gone, the reasons of parked keys and the deaths and tries of all keys are lost.
	Gone []string
}

// Repair makes a queue consistent again after Redis keys of it were deleted or evicted. It counts missing records as
// lost, makes missing entries from their records, and rebuilds everything else. All leases end; a key that was leased
// waits for the end of its lease and Want.Uncertain, because a request may be in flight. It blocks the server for about
// two seconds for each hundred thousand keys of a shard, and refuses a shard with more than most keys.
func (q *Queue) Repair(ctx context.Context, most int) (done Repaired, err error) {
	if err := q.begin(ctx); err != nil {
		return done, err
	}
	defer q.end()
	for s := range q.shards {
		client, err := q.patient(ctx, s)
		if err != nil {
			return done, err
		}
		answer, err := repairScript.Run(ctx, client, q.shards[s].keys, q.with(s, []any{most})...).Result()
		if err != nil {
			return done, q.meaning(err, s)
		}
		r := rediskit.Read(answer)
		keys, lost := r.Int(), r.Int()
		if r.Err == nil && keys < 0 {
			return done, fmt.Errorf("redisqueue: shard %d has more than %d keys", s, most)
		}
		first := len(done.Gone)
		for r.More() {
			done.Gone = append(done.Gone, r.Text())
		}
		if r.Err != nil {
			return done, r.Err
		}
		q.shards[s].fault.Store(nil)
		done.Keys += keys
		done.Lost += lost
		if q.o.Logger != nil {
			q.o.Logger.WarnContext(ctx, "redisqueue: queue repaired", "queue", q.name, "shard", s, "keys", keys, "lost", lost, "gone", done.Gone[first:])
		}
	}
	q.wake()
	return done, nil
}

// patient returns a client that waits for the answer of a long script. The usual time-out, often three seconds, would
// send the script again while the first one runs, and the server would run both.
func (q *Queue) patient(ctx context.Context, shard int) (redis.UniversalClient, error) {
	c, err := rediskit.Master(ctx, q.client, q.shards[shard].keys[0])
	if err != nil {
		return nil, fmt.Errorf("redisqueue: %w", err)
	}
	if node, ok := c.(*redis.Client); ok {
		return node.WithTimeout(time.Hour), nil
	}
	return c, nil
}
