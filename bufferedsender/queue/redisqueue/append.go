package redisqueue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/rediskit"
)

// part holds the arguments of one script.
type part struct {
	folds, records int
	args           []any // folds first
	recordArgs     []any
	bytes          int
}

// parts are the scripts for one shard, in order.
type parts []*part

// room returns the part for another entry of this size: the last one, or a new one. In a script folds come before
// records, so a fold that follows records would need a new part; a call has none.
func (p *parts) room(entries, bytes int) *part {
	if n := len(*p); n > 0 {
		if last := (*p)[n-1]; last.folds+last.records+entries <= perScript && last.bytes+bytes <= scriptBytes {
			last.bytes += bytes
			return last
		}
	}
	*p = append(*p, &part{bytes: bytes})
	return (*p)[len(*p)-1]
}

// Append implements queue.Queue. The package comment defines a call.
func (q *Queue) Append(ctx context.Context, call queue.Call) (queue.Receipt, error) {
	if err := queue.CheckCall(&call); err != nil {
		return queue.Receipt{}, fmt.Errorf("redisqueue: %w", err)
	}
	if call.Number >= 1<<48 {
		return queue.Receipt{}, fmt.Errorf("redisqueue: got call number %d, want less than 2^48", call.Number)
	}
	if err := q.begin(ctx); err != nil {
		return queue.Receipt{}, err
	}
	defer q.end()
	receipt, err := q.append(ctx, &call)
	if err == nil {
		q.wake()
	}
	return receipt, err
}

// before returns the generations of the adder's calls so far, by shard. It returns ErrTooOld for a call older than the
// last one, which may have been about keys of other shards.
func (q *Queue) before(ctx context.Context, call *queue.Call) ([]int64, error) {
	generations := make([]int64, len(q.shards))
	if len(q.shards) == 1 {
		return generations, nil // the script checks that
	}
	numbers, errs := make([]int64, len(q.shards)), make([]error, len(q.shards))
	all := make([]int, len(q.shards))
	for s := range all {
		all[s] = s
	}
	together(all, func(s int) {
		r, err := q.on(ctx, adderScript, s, call.Adder[:])
		if err != nil {
			errs[s] = err
			return
		}
		numbers[s], generations[s] = r.Int(), r.Int()
		errs[s] = r.Err
	})
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if call.Number < uint64(max(slices.Max(numbers), 0)) { //nolint:gosec // not negative
		return nil, fmt.Errorf("redisqueue: %w", queue.ErrTooOld)
	}
	return generations, nil
}

func (q *Queue) append(ctx context.Context, call *queue.Call) (receipt queue.Receipt, err error) {
	before, known := q.adders.take(call.Adder, call.Number)
	if !known {
		if before, err = q.before(ctx, call); err != nil {
			return queue.Receipt{}, err
		}
	}
	byShard := q.divide(call)
	answers := make([]shardAnswer, len(q.shards))
	var busy []int
	for s, p := range byShard {
		if len(p) > 0 {
			busy = append(busy, s)
		}
	}
	together(busy, func(shard int) { answers[shard] = q.appendTo(ctx, call, shard, byShard[shard]) })
	kept, repeated := false, false
	var errs []error
	for _, s := range busy {
		a := answers[s]
		kept, repeated = kept || a.kept, repeated || a.repeated
		if a.err != nil {
			errs = append(errs, a.err)
		}
		receipt.Replaced += a.replaced
		receipt.Folded += a.folded
		receipt.Piles = append(receipt.Piles, a.piles...)
	}
	if len(errs) > 0 {
		err = errors.Join(errs...)
		if kept && !errors.Is(err, queue.ErrUnknown) {
			err = fmt.Errorf("%w: %w", queue.ErrUnknown, err)
		}
		return queue.Receipt{}, err
	}
	if known && repeated { // another object has appended this call, and perhaps later ones
		if before, err = q.before(ctx, call); err != nil {
			if !errors.Is(err, queue.ErrTooOld) {
				err = fmt.Errorf("%w: %w", queue.ErrUnknown, err)
			}
			return queue.Receipt{}, err
		}
	}
	for s := range before {
		before[s] = max(before[s], answers[s].generation)
	}
	receipt.Position = q.position(before)
	if len(q.shards) > 1 {
		q.adders.answered(call.Adder, call.Number, before)
	}
	return receipt, nil
}

// divide divides a call into scripts, by shard. An empty call becomes a script for the first shard, which remembers its
// number.
func (q *Queue) divide(call *queue.Call) []parts {
	byShard := make([]parts, len(q.shards))
	for i := range call.Folds {
		f := &call.Folds[i]
		args := []any{f.Key, f.Count, f.Last, len(f.Records)}
		size := len(f.Key)
		for j := range f.Records {
			args = append(args, encode(&f.Records[j], queue.Origin{}))
			size += len(f.Records[j].Body)
		}
		p := byShard[q.shardOf(f.Key)].room(1, size)
		p.folds++
		p.args = append(p.args, args...)
	}
	for i := range call.Records {
		r := &call.Records[i]
		p := byShard[q.shardOf(r.Key)].room(1, len(r.Key)+len(r.Body))
		p.records++
		if p.recordArgs == nil {
			p.recordArgs = make([]any, 0, 2*min(len(call.Records)-i, perScript))
		}
		p.recordArgs = append(p.recordArgs, r.Key, encode(r, queue.Origin{Adder: call.Adder, Number: call.Number, Index: i}))
	}
	if len(call.Folds)+len(call.Records) == 0 {
		byShard[0].room(0, 0)
	}
	return byShard
}

type shardAnswer struct {
	replaced, folded int
	generation       int64
	piles            []queue.Pile
	repeated         bool // a part of the call had been applied before
	kept             bool // a part of the call may be kept
	err              error
}

// appendTo runs the scripts of one shard, one after the other. The counts in each answer add up all scripts so far, so
// the last answer has those of the whole call, and a repeat returns the same.
func (q *Queue) appendTo(ctx context.Context, call *queue.Call, shard int, ps parts) (a shardAnswer) {
	most := q.bounds()
	for i, p := range ps {
		args := make([]any, 0, 7+len(p.args)+len(p.recordArgs))
		args = append(args, call.Adder[:], call.Number, i, most.Keys, most.Bytes, p.folds, p.records)
		answer, unsure, err := q.run(ctx, appendScript, shard, int(q.o.Durability), q.with(shard, append(append(args, p.args...), p.recordArgs...))...)
		if err != nil {
			unsure = unsure || q.kept(ctx, call, shard, i, err)
			a.kept = a.kept || unsure
			if unsure {
				err = fmt.Errorf("%w: %w", queue.ErrUnknown, err)
			}
			a.err = err
			return a
		}
		a.kept = true
		r := rediskit.Read(answer)
		a.replaced, a.folded, a.generation = int(r.Int()), int(r.Int()), r.Int()
		a.repeated = r.Int() == 1 || a.repeated
		for i := 0; i < len(p.recordArgs); i += 2 {
			a.piles = dropPile(a.piles, p.recordArgs[i].(string)) // the answer of an earlier part is outdated
		}
		for r.More() {
			key, seqs := r.Text(), r.Text()
			a.piles = append(a.piles, queue.Pile{Key: key, Records: recordsOf(r, key, seqs)})
		}
		if r.Err != nil {
			a.err = fmt.Errorf("%w: %w", queue.ErrUnknown, r.Err)
			return a
		}
	}
	return a
}

// kept reports whether a refused part may be in the queue anyway: the Redis client retries, so an earlier attempt may
// have been applied, or this call may repeat an applied one. Only a refusal by the script itself is certain.
func (q *Queue) kept(ctx context.Context, call *queue.Call, shard, part int, err error) bool {
	if !rediskit.Refused(err) {
		return false
	}
	r, err := q.on(ctx, adderScript, shard, call.Adder[:])
	if err != nil {
		return true
	}
	number, _, last := r.Int(), r.Int(), r.Int()
	return r.Err != nil || uint64(number) == call.Number && last >= int64(part) //nolint:gosec // not negative
}

// dropPile drops the pile of a key for which a later part has more records: the pile may be small now.
func dropPile(piles []queue.Pile, key string) []queue.Pile {
	for i := range piles {
		if piles[i].Key == key {
			return append(piles[:i], piles[i+1:]...)
		}
	}
	return piles
}

// position encodes the generations of a call and of earlier calls of its adder: for each shard with one, its number,
// generation and epoch. The generations of a shard never go back.
func (q *Queue) position(generations []int64) queue.Position {
	var b strings.Builder
	for s, g := range generations {
		if g > 0 {
			if b.Len() > 0 {
				b.WriteByte(',')
			}
			b.WriteString(strconv.Itoa(s) + "." + strconv.FormatInt(g, 10) + "." + q.shards[s].epoch)
		}
	}
	return queue.Position(b.String())
}

// Settled implements queue.Queue.
func (q *Queue) Settled(ctx context.Context, at queue.Position) (bool, error) {
	if err := q.begin(ctx); err != nil {
		return false, err
	}
	defer q.end()
	if at == "" {
		return true, nil
	}
	settled := true
	for one := range strings.SplitSeq(string(at), ",") {
		f := strings.Split(one, ".")
		if len(f) != 3 {
			return false, fmt.Errorf("redisqueue: malformed position %q", at)
		}
		s, err1 := strconv.Atoi(f[0])
		g, err2 := strconv.ParseInt(f[1], 10, 64)
		if err := errors.Join(err1, err2); err != nil || s < 0 || s >= len(q.shards) {
			return false, fmt.Errorf("redisqueue: malformed position %q", at)
		}
		if f[2] != q.shards[s].epoch {
			return false, fmt.Errorf("redisqueue: shard %d was made again: %w", s, queue.ErrLost)
		}
		answer, err := q.ask(ctx, settledScript, s, q.with(s, []any{g})...)
		if err != nil {
			return false, err
		}
		switch answer {
		case int64(0):
			settled = false // the other shards must still end their generation
		case int64(1):
		case int64(2):
			return false, fmt.Errorf("redisqueue: shard %d has no generation %d: %w", s, g, queue.ErrLost)
		default:
			return false, rediskit.ErrAnswer
		}
	}
	return settled, nil
}
