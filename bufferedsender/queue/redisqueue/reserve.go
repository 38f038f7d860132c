package redisqueue

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/rediskit"
)

// Reserve implements queue.Queue. It asks one shard after the other until it has enough keys.
func (q *Queue) Reserve(ctx context.Context, want queue.Want) ([]queue.Lease, error) {
	leases, _, _, err := q.Exchange(ctx, want)
	return leases, err
}

// Settle implements queue.Queue.
func (q *Queue) Settle(ctx context.Context, ends ...queue.End) (stale, failed []queue.Lease, err error) {
	if err := queue.CheckEnds(ends); err != nil {
		return nil, leasesOf(ends), fmt.Errorf("redisqueue: %w", err)
	}
	if err := q.begin(ctx); err != nil {
		return nil, leasesOf(ends), err
	}
	defer q.end()
	stale, failed, err = q.settle(ctx, ends)
	return stale, failed, err
}

// Exchange implements queue.Exchanger.
func (q *Queue) Exchange(ctx context.Context, want queue.Want, ends ...queue.End) (leases, stale, failed []queue.Lease, err error) {
	if err := errors.Join(queue.CheckWant(&want), queue.CheckEnds(ends)); err != nil {
		return nil, nil, leasesOf(ends), fmt.Errorf("redisqueue: %w", err)
	}
	if err := q.begin(ctx); err != nil {
		return nil, nil, leasesOf(ends), err
	}
	defer q.end()
	// With one shard both go in one script. With several, reserving begins when all ends are settled, because the
	// shards of the ends may not be those asked first.
	var last []queue.End
	if len(q.shards) == 1 {
		cut := len(ends) - len(ends)%perScript
		ends, last = ends[:cut], ends[cut:]
	}
	var unsettled error
	if len(ends) > 0 {
		stale, failed, unsettled = q.settle(ctx, ends)
		if unsettled != nil && (len(q.shards) == 1 || ctx.Err() != nil) {
			return nil, stale, append(failed, leasesOf(last)...), unsettled
		}
	}
	leases, more, lost, err := q.reserve(ctx, &want, last)
	if unsettled != nil {
		if err == nil && len(leases) == 0 {
			q.held.tried(want.Token, nil) // the caller repeats the call, and there is nothing to find
		}
		err = errors.Join(unsettled, err)
	}
	return leases, append(stale, more...), append(failed, lost...), err
}

func leasesOf(ends []queue.End) (leases []queue.Lease) {
	for i := range ends {
		leases = append(leases, ends[i].Lease)
	}
	return leases
}

// settle settles ends.
func (q *Queue) settle(ctx context.Context, ends []queue.End) (stale, failed []queue.Lease, err error) {
	late := make([][]queue.Lease, len(q.shards))
	left, err := spread(ctx, q, ends, func(e *queue.End) string { return e.Lease.Key }, func(ctx context.Context, s int, chunk []queue.End) error {
		_, _, its, err := q.exchange(ctx, s, chunk, nil)
		late[s] = append(late[s], its...)
		return err
	})
	q.released(ends)
	return slices.Concat(late...), leasesOf(left), err
}

// spread passes the items of each shard to work, as many at a time as a script may have. A shard without an answer
// delays no other one. After an error the items of its shard that work has not finished are left.
func spread[E any](ctx context.Context, q *Queue, all []E, key func(*E) string, work func(ctx context.Context, shard int, some []E) error) (left []E, err error) {
	byShard := divide(q, all, key)
	lefts, errs := make([][]E, len(q.shards)), make([]error, len(q.shards))
	var busy []int
	for s, its := range byShard {
		if len(its) > 0 || len(all) == 0 {
			busy = append(busy, s)
		}
	}
	together(busy, func(s int) {
		for chunk := range scripts(byShard[s], len(all) == 0) {
			if errs[s] == nil {
				turn, done := q.turn(ctx)
				errs[s] = work(turn, s, chunk)
				done()
			}
			if errs[s] != nil {
				lefts[s] = append(lefts[s], chunk...)
			}
		}
	})
	return slices.Concat(lefts...), errors.Join(errs...)
}

// together runs work for each of the shards, eight at a time.
func together(shards []int, work func(shard int)) {
	if len(shards) == 1 {
		work(shards[0])
		return
	}
	var wg sync.WaitGroup
	limit := make(chan struct{}, 8)
	for _, s := range shards {
		limit <- struct{}{}
		wg.Go(func() {
			defer func() { <-limit }()
			work(s)
		})
	}
	wg.Wait()
}

// divide groups items by the shard of their keys.
func divide[E any](q *Queue, all []E, key func(*E) string) [][]E {
	if len(q.shards) == 1 {
		return [][]E{all}
	}
	byShard := make([][]E, len(q.shards))
	for i := range all {
		s := q.shardOf(key(&all[i]))
		byShard[s] = append(byShard[s], all[i])
	}
	return byShard
}

// scripts cuts the items for a shard into pieces for one script each. If nothing is set there is one script without
// items, which ends expired leases.
func scripts[E any](all []E, nothing bool) iter.Seq[[]E] {
	if nothing {
		return func(yield func([]E) bool) { yield(nil) }
	}
	return slices.Chunk(all, perScript)
}

func (q *Queue) released(ends []queue.End) {
	if slices.ContainsFunc(ends, func(e queue.End) bool { return e.Fate == queue.Release }) {
		q.wake()
	}
}

// ask holds the arguments of a reservation by one script.
type ask struct {
	want   *queue.Want
	part   int
	keys   int
	bytes  int
	first  bool // nothing was leased yet
	repeat bool
	note   bool // the shard is the one that remembers the token
	only   []string
}

// state is the state that a script returned.
type state struct {
	more  bool // the next part may have something
	drain bool // the holder gets nothing, so that a suspect can go alone
	alone bool // this lease is such a suspect
	known bool // the token was used before
}

// exchange runs a script that settles, reserves, or both, on one shard.
func (q *Queue) exchange(ctx context.Context, shard int, ends []queue.End, a *ask) (leases []queue.Lease, st state, stale []queue.Lease, err error) {
	args := make([]any, 0, 14+2*len(ends))
	args = append(args, len(ends))
	if a == nil {
		args = append(args, "", 0, "", "", 0, 0, 0, 0, 0, 0, 0, 0, 0)
	} else {
		args = append(args, a.want.Token[:], a.part, a.want.Holder[:], a.want.Name, a.keys, a.bytes, millis(a.want.For),
			millis(a.want.Uncertain), flag(a.first), q.held.elsewhere(a.want.Holder, shard, q.now()), flag(a.repeat), scriptBytes, flag(a.note))
	}
	for i := range ends {
		args = append(args, ends[i].Lease.Key, pack(&ends[i]))
	}
	if a != nil {
		for _, k := range a.only {
			args = append(args, k)
		}
	}
	var r *rediskit.Reader
	left := ends
	for again := true; again; {
		if r, err = q.on(ctx, exchangeScript, shard, args...); err != nil {
			return nil, st, nil, err
		}
		n := r.Int()
		_ = r.Int()
		st = state{more: n == 1, drain: n == 2, known: n == 5, alone: r.Int() == 1}
		stale = q.stale(r, left, stale)
		// The script had so many expired leases or keys becoming due that it did nothing else (3), or only settled (4).
		again = r.Err == nil && (n == 3 || n == 4)
		if n == 4 && len(left) > 0 {
			args = append(args[:14:14], args[14+2*len(left):]...)
			args[0], left = 0, nil
		}
	}
	for r.More() {
		key, info := r.Text(), r.Text()
		if len(info) < 4 {
			return nil, st, nil, rediskit.ErrAnswer
		}
		l := queue.Lease{Key: key, Token: a.want.Token, Expired: int(info[0])<<8 | int(info[1]), Tries: int(info[2])<<8 | int(info[3])}
		l.Records = recordsOf(r, key, info[4:])
		leases = append(leases, l)
	}
	if r.Err != nil {
		return nil, st, nil, r.Err
	}
	for i := range ends {
		q.held.ended(ends[i].Lease.Token, shard)
	}
	return leases, st, stale, nil
}

// stale reads the ends that came after their lease had ended.
func (q *Queue) stale(r *rediskit.Reader, ends []queue.End, stale []queue.Lease) []queue.Lease {
	for {
		i := r.Int()
		if i < 0 || r.Err != nil {
			return stale
		}
		if int(i) >= len(ends) {
			r.Fail(rediskit.ErrAnswer)
			return stale
		}
		stale = append(stale, ends[i].Lease)
	}
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// pack encodes an end: token (16), fate (1), done (4), again (1), after and uncertain (6 each, ms), reason.
func pack(e *queue.End) []byte {
	b := make([]byte, 34, 34+len(e.Reason))
	copy(b, e.Lease.Token[:])
	b[16] = byte(e.Fate)
	binary.BigEndian.PutUint32(b[17:], uint32(min(e.Done, 1<<31-1)))                                    //nolint:gosec // checked
	b[21] = byte(flag(e.Again))                                                                         //nolint:gosec // 0 or 1
	ms := func(d time.Duration) uint64 { return uint64((d + time.Millisecond - 1) / time.Millisecond) } //nolint:gosec // checked
	put48(b[22:], ms(e.After))
	put48(b[28:], ms(e.Uncertain))
	reason := e.Reason
	return append(b, reason[:min(len(reason), longReason)]...)
}

// longReason is the maximum size of a reason in bytes; longer ones are cut. An entry has two bytes for its length.
const longReason = 4096

// patience is how long Reserve waits for one shard of several.
const patience = 2 * time.Second

// turn bounds the time for one shard of several.
func (q *Queue) turn(ctx context.Context) (context.Context, context.CancelFunc) {
	if len(q.shards) == 1 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, q.patience)
}

// passes reports whether err says that a shard does not answer now.
func passes(ctx, turn context.Context, err error) bool {
	return err != nil && ctx.Err() == nil && (turn.Err() != nil || rediskit.Transient(err))
}

// reserve settles ends of the only shard, and reserves. It returns leases or an error, never both: after an error, a
// repeat returns everything leased with the token. A shard that does not answer is skipped while others answer; leases
// that it may have made run out.
//
//archtest:long owed: reading the answer of a script is a part of its own
func (q *Queue) reserve(ctx context.Context, want *queue.Want, ends []queue.End) (leases, stale, failed []queue.Lease, err error) {
	tried, repeat := q.held.repeated(want.Token)
	if repeat {
		return q.again(ctx, want, ends, tried)
	}
	// Every caller finds the same shard that remembers a token. That shard is asked first; if another one must be
	// first, it only records the token.
	home := int(binary.BigEndian.Uint32(want.Token[:]) % uint32(len(q.shards))) //nolint:gosec // at most 1024
	now := q.now()
	from, draining := q.held.first(want.Holder, home)
	if len(q.shards) > 1 && (len(want.Only) > 0 || from != home) {
		turn, done := q.turn(ctx)
		_, st, _, err := q.exchange(turn, home, nil, &ask{want: want, note: true})
		passing := passes(ctx, turn, err)
		done()
		if err != nil && !passing {
			return nil, nil, leasesOf(ends), err
		}
		if st.known {
			return q.again(ctx, want, ends, q.unsure(want))
		}
	}
	if len(want.Only) > 0 {
		return q.named(ctx, want, ends)
	}
	keys, left := want.Keys, want.Bytes
	nothing := keys == 0
	var errs []error
	answered, last := false, error(nil)
	for i := range q.shards {
		shard := (from + i) % len(q.shards)
		n := 0
		for part := 0; ; part++ {
			q.held.tries(want.Token, shard)
			turn, done := q.turn(ctx)
			got, st, late, err := q.exchange(turn, shard, ends, &ask{want: want, part: part, keys: keys, bytes: max(left, 0), first: len(leases) == 0, note: shard == home && from == home && part == 0})
			passing := passes(ctx, turn, err)
			done()
			switch {
			case err != nil && len(leases) > 0:
				return leases, stale, nil, nil // the next call returns the error
			case err != nil && (len(q.shards) == 1 || ctx.Err() != nil || draining && i == 0 && q.held.has(want.Holder, shard, now)):
				return nil, stale, leasesOf(ends), err
			case err != nil && !passing:
				errs = append(errs, err)
			}
			if err != nil {
				last = err
				break
			}
			answered = true
			q.released(ends)
			stale, ends = append(stale, late...), nil
			if st.known {
				leases, _, _, err = q.again(ctx, want, nil, q.unsure(want))
				return leases, stale, nil, err
			}
			if draining && i == 0 && st.drain { // leases of other shards must still end if expired
				keys, nothing = 0, true
				break
			}
			leases = append(leases, got...)
			n += len(got)
			keys -= len(got)
			for j := range got {
				left -= size(&got[j])
			}
			q.held.leased(want, shard, n, now)
			st.drain = st.drain || st.alone && len(got) > 0
			q.held.drain(want.Holder, shard, st.drain)
			if st.drain {
				return leases, stale, nil, nil
			}
			if !st.more || keys <= 0 {
				break
			}
		}
		if keys <= 0 && !nothing || len(leases) > 0 && left <= 0 {
			break
		}
	}
	if !answered && len(errs) == 0 {
		errs = append(errs, last)
	}
	if err := errors.Join(errs...); err != nil && len(leases) == 0 {
		return nil, stale, nil, err
	}
	return leases, stale, nil, nil
}

// size returns the bytes that a lease counts for Want.Bytes.
func size(l *queue.Lease) (n int) {
	for i := range l.Records {
		n += len(l.Key) + len(l.Records[i].Body)
	}
	return n
}

// Extend implements queue.Queue.
func (q *Queue) Extend(ctx context.Context, d time.Duration, leases ...queue.Lease) (lost []queue.Lease, err error) {
	if err := q.begin(ctx); err != nil {
		return nil, err
	}
	defer q.end()
	gone := make([][]queue.Lease, len(q.shards))
	_, err = spread(ctx, q, leases, func(l *queue.Lease) string { return l.Key }, func(ctx context.Context, s int, chunk []queue.Lease) error {
		its, err := q.extend(ctx, s, d, chunk)
		gone[s] = append(gone[s], its...)
		return err
	})
	return slices.Concat(gone...), err
}

func (q *Queue) extend(ctx context.Context, shard int, d time.Duration, leases []queue.Lease) (lost []queue.Lease, err error) {
	args := make([]any, 0, 1+2*len(leases))
	args = append(args, millis(d))
	for i := range leases {
		token := leases[i].Token[:]
		if leases[i].Requested {
			token = append(token, 1)
		}
		args = append(args, leases[i].Key, token)
	}
	r, err := q.again3(ctx, extendScript, shard, args...)
	if err != nil {
		return nil, err
	}
	for i := range leases {
		q.held.extended(leases[i].Token, q.now().Add(d))
	}
	for r.More() {
		i := int(r.Int())
		if i < 0 || i >= len(leases) {
			r.Fail(rediskit.ErrAnswer)
			break
		}
		lost = append(lost, leases[i])
		q.held.ended(leases[i].Token, shard)
	}
	return lost, r.Err
}
