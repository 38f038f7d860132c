package repair

import (
	"context"
	"errors"
	"fmt"
	"hash"
	"io"
	"time"

	"github.com/go-azsearch/azsearch/internal/sleep"
	"github.com/go-azsearch/azsearch/internal/wholeindex"
)

// deletion is one DeleteWhere. digest and receipt belong to the calling goroutine; the other fields are constant while
// several goroutines run.
type deletion struct {
	index   Index
	to      Sender
	options DeleteOptions
	digest  hash.Hash
	receipt Receipt
	allowed int64 // how many documents may be deleted in all

	spent, most, rows, charged int64     // of the guard: deleted in 24 h, bound, documents of the index, counted for this call
	counted                    time.Time // when charged was counted
}

// checksAtMost is the number of last scans while they find documents.
const checksAtMost = 3

func (d *deletion) run(ctx context.Context) error {
	r := &d.receipt
	if d.options.Total != nil {
		var err error
		if r.Total, err = d.options.Total(ctx); err != nil {
			return fmt.Errorf("nothing was deleted: the number of documents in the index: %w", err)
		}
		if r.Total < 0 {
			return fmt.Errorf("nothing was deleted: the number of documents in the index is %d", r.Total)
		}
	}
	if d.options.DryRun {
		if err := d.find(ctx, nil, d.confirm); err != nil {
			return err
		}
		if refused := d.guard(); refused != nil && r.Refused == "" && (d.options.Total != nil || d.options.AllowDeletes > 0) { // without both, the dry run only counts
			r.Refused = refused.Error()
		}
		return nil
	}
	s := &deleteSpool{}
	if err := d.find(ctx, s, nil); err != nil {
		return fmt.Errorf("nothing was deleted: %w", err)
	}
	r.Matched = s.count
	if err := d.guard(); err != nil {
		r.Unsent = r.Matched
		return err
	}
	for {
		before := *r
		if s.count > 0 {
			r.Rounds++
			if err := d.round(ctx, s); err != nil {
				return errors.Join(err, d.verdict())
			}
		}
		failed := r.Failed+r.Unsent > before.Failed+before.Unsent
		if err := d.last(ctx, s, failed); err != nil {
			return errors.Join(err, d.verdict())
		}
		if s.count == 0 || r.Rounds > d.options.UntilStable || failed && r.Deleted == before.Deleted {
			return d.verdict()
		}
		r.Matched += s.count
	}
}

// verdict is the error of a complete deletion.
func (d *deletion) verdict() error {
	r := &d.receipt
	var failed, left error
	if r.Failed > 0 {
		failed = fmt.Errorf("%d of %d deletes failed, the first of %q: %w", r.Failed, r.Matched, r.Failures[0].Key, r.Failures[0].Err)
	}
	if r.Left > 0 {
		left = fmt.Errorf("%w: the last scan found %d", ErrMatchesLeft, r.Left)
	}
	return errors.Join(failed, left)
}

// last scans up to checksAtMost times until a scan finds nothing.
func (d *deletion) last(ctx context.Context, s *deleteSpool, hopeless bool) error {
	ctx = wholeindex.Again(ctx) // the index may have got permission filters since the definition was read
	r := &d.receipt
	pause := d.options.Pause
	for range checksAtMost {
		if err := sleep.For(ctx, pause); err != nil {
			return fmt.Errorf("unknown whether matching documents are left: %w", err)
		}
		began := time.Now()
		*s = deleteSpool{}
		if err := d.find(ctx, s, nil); err != nil {
			return fmt.Errorf("unknown whether matching documents are left: %w", err)
		}
		if s.count == 0 {
			// Filters may also have come between the definition and the scan. The first scan is of the whole index if a
			// definition read after it has none; otherwise the second is, or is refused.
			if err := d.find(wholeindex.Again(ctx), s, nil); err != nil {
				return fmt.Errorf("unknown whether matching documents are left: %w", err)
			}
		}
		r.Left = s.count
		if s.count == 0 {
			r.NoneLeftAt = began
			return nil
		}
		if hopeless || pause <= 0 {
			return nil // failed deletes do not go away with time
		}
		pause *= 2
	}
	return nil
}

// deleteSpool has the keys that a scan found.
type deleteSpool struct {
	keys  []string // as many as fit
	count int64    // of all
	bytes int64
}

// find scans the index, and passes each key to see, or adds it to the spool as far as it fits.
func (d *deletion) find(ctx context.Context, s *deleteSpool, see func(key string)) error {
	return d.scan(ctx, "", func(key string) error {
		if see != nil {
			d.receipt.Matched++
			see(key)
			return nil
		}
		s.count++
		if s.bytes += int64(len(key)) + 16; s.bytes <= d.options.spoolBytes {
			s.keys = append(s.keys, key)
		}
		return nil
	})
}

// scan passes the keys behind after to see, and checks their order.
func (d *deletion) scan(ctx context.Context, after string, see func(key string) error) error {
	for row, err := range d.index.Scan(ctx, after, "") {
		if err != nil {
			return fmt.Errorf("the scan: %w", err)
		}
		if row.Key <= after {
			return fmt.Errorf("the scan: the key %q comes after %q", row.Key, after)
		}
		after = row.Key
		if err := see(row.Key); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// confirm records a key that was deleted, or would be.
func (d *deletion) confirm(key string) {
	_, _ = io.WriteString(d.digest, key+"\n") // a hash never fails
	if len(d.receipt.Keys) < maxReceiptKeys {
		d.receipt.Keys = append(d.receipt.Keys, key)
	}
	if d.options.OnKey != nil {
		d.options.OnKey(key)
	}
}

// round deletes the keys of a scan. One goroutine makes batches, up to heldKeys, and starts a goroutine for each; this
// one waits for the batches in order. So keys are confirmed in scan order without keeping all of them. When round
// returns all batches have ended.
func (d *deletion) round(ctx context.Context, s *deleteSpool) error {
	run, stop := context.WithCancelCause(ctx) // ends with ctx, and when a batch fails
	defer stop(nil)
	o := &d.options
	batches := make(chan *deleteBatch, max(1, o.heldKeys/o.batchKeys)-1) // plus the batch that is awaited
	turns := make(chan struct{}, o.parallel)                             // held while a batch is looked up or in the sender
	room := d.allowed - d.receipt.Deleted - d.receipt.Unknown
	if s.count > room {
		d.receipt.Unsent += s.count
		return fmt.Errorf("%d more documents match now: %w", s.count, d.refusal(d.receipt.Deleted+d.receipt.Unknown+s.count))
	}
	go func() {
		defer close(batches)
		err := d.eachBatch(run, s, room, func(keys []string) error {
			b := newDeleteBatch(keys)
			select {
			case batches <- b:
			case <-run.Done():
				return context.Cause(run)
			}
			go func() {
				defer close(b.done)
				if b.err = b.work(ctx, run, d.index, d.to, o.Pause, turns); b.err != nil {
					stop(b.err)
				}
			}()
			return nil
		})
		if err != nil {
			stop(err)
		}
	}()
	var taken int64
	var ended error // error of the first batch after ctx has ended
	for b := range batches {
		<-b.done
		taken += int64(len(b.keys))
		d.settle(b)
		if ended == nil && ctx.Err() != nil {
			ended = b.err
		}
	}
	err := context.Cause(run)
	if ended != nil {
		err = ended
	}
	switch missing := s.count - taken; {
	case missing < 0: // the second scan has found more
		d.receipt.Matched -= missing
	case err != nil:
		d.receipt.Unsent += missing
	default:
		d.receipt.Changed += missing
	}
	return err
}

// eachBatch calls take with up to batchKeys keys at a time: those of the spool, then those that a second scan finds
// behind them. More than room keys are an error.
func (d *deletion) eachBatch(ctx context.Context, s *deleteSpool, room int64, take func(keys []string) error) error {
	most := d.options.batchKeys
	var keys []string
	add := func(key string) error {
		if room--; room < 0 {
			return fmt.Errorf("more documents match now: %w", d.refusal(d.allowed+1))
		}
		if keys = append(keys, key); len(keys) < most {
			return nil
		}
		full := keys
		keys = make([]string, 0, most)
		return take(full)
	}
	var err error
	for i := 0; i < len(s.keys) && err == nil; i++ {
		err = add(s.keys[i])
	}
	if err == nil && int64(len(s.keys)) < s.count {
		after := ""
		if n := len(s.keys); n > 0 {
			after = s.keys[n-1]
		}
		err = d.scan(ctx, after, add)
	}
	if err == nil && len(keys) > 0 {
		err = take(keys)
	}
	return err
}

// settle counts the outcomes of a batch.
func (d *deletion) settle(b *deleteBatch) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := &d.receipt
	for i, end := range b.ends {
		switch end {
		case keyDeleted:
			r.Deleted++
			d.confirm(b.keys[i])
		case keyChanged:
			r.Changed++
		case keyFailed:
			r.Failed++
		case keyWaits: // still in the sender, or without a known outcome
			r.Unknown++
			r.Unsent++
			b.ends[i] = keyUnsent
		default:
			r.Unsent++
		}
	}
	r.Unknown += b.unknown
	b.sortFailures()
	r.Failures = append(r.Failures, b.failures[:min(len(b.failures), maxDeleteFailures-len(r.Failures))]...)
}
