// Package load implements azsearch load: it reads files, converts their records to documents, sends these through a
// buffered sender, and accounts for each record.
//
// One goroutine reads blocks of whole records, several convert them, and one adds the documents in the order of the
// files, so that the later of two records with the same key wins. A block is settled when each of its records is in
// the index or in the file of rejects. The position in a checkpoint is below every unsettled block. The right column
// is what a crash after an event leaves:
//
//	a document is sent             the checkpoint is before its block: it is sent again
//	it is applied, or rejected     the same, until the whole block is settled
//	the checkpoint is written      rejects were synced before; the old checkpoint counts until the rename
//
// So a crash loses no record, and at most the blocks since the last checkpoint are sent twice.
package load

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/amount"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/convert"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/exit"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/jqfilter"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/sink"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/source"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
)

// Options are the settings of a load.
type Options struct {
	Files  []string
	Source source.Options
	Plan   *convert.Plan
	Filter *jqfilter.Filter // nil without -jq

	Indexer    bufferedsender.Indexer       // nil: a dry run
	Take       func(models.RawAction) error // called in a dry run with each document, in the order of the files; or nil
	Queue      queue.Queue                  // or nil
	InFlight   int                          // concurrent requests
	Patience   time.Duration                // maximum time without progress while the service is unavailable
	Rejects    *Rejects
	Checkpoint *Checkpoint // or nil
	Again      string      // the command that loads a file of rejects, without its name; or ""
	Watch      func(ctx context.Context, now func() Progress)
}

const (
	converted   = 8                // maximum number of blocks converted but not added
	grace       = 30 * time.Second // for requests in flight after an interruption
	saveEvery   = time.Second
	bufferBytes = 24 << 20
)

var (
	errInterrupted = errors.New("interrupted")
	errQuota       = errors.New("the service is full: its quota of documents or storage is used up")
)

// Run loads all files. The report is complete even if Run returns an error. The error has an exit code.
func Run(ctx context.Context, o Options) (Report, error) {
	r := &run{Options: o, began: time.Now(), kinds: map[string]int64{}, places: map[int64]place{}}
	r.ctx, r.stop = context.WithCancelCause(context.WithoutCancel(ctx))
	defer r.stop(nil)
	defer context.AfterFunc(ctx, func() { r.stop(errInterrupted) })()
	r.outcome = r.settled
	if o.Checkpoint != nil {
		if err := r.resume(o.Checkpoint); err != nil {
			return Report{}, err
		}
	}
	if o.Indexer != nil {
		if err := r.open(); err != nil {
			return Report{}, err
		}
	}
	watching, watched := context.WithCancel(context.Background())
	var watchers sync.WaitGroup
	watchers.Go(func() { r.watch(watching) })
	if o.Watch != nil {
		watchers.Go(func() { o.Watch(watching, r.Progress) })
	}
	err := r.pipeline()
	if closing := r.close(); err == nil {
		err = closing
	}
	watched()
	watchers.Wait()
	if saved := r.save(err == nil); err == nil {
		err = saved
	}
	return r.report(err)
}

// run is a running load.
type run struct {
	Options
	began   time.Time
	ctx     context.Context // for reading, converting and adding; its cause is why the run ends early
	stop    context.CancelCauseFunc
	sender  *bufferedsender.BufferedSender[struct{}]
	outcome func(models.Outcome)

	water   events.LowWatermark[int64] // blocks by number
	first   int                        // the file with which the run begins
	starts  []source.Position          // where it begins in each file; nil without a checkpoint
	saved   place                      // position in the last checkpoint; used by watch, and by Run after it
	earlier int64                      // number of rejects of the resumed run
	done    bool                       // the resumed run had read everything

	mu     sync.Mutex // guards the fields below
	blocks int64      // number of blocks started
	places map[int64]place
	kinds  map[string]int64
	file   *source.File // being read

	firstKey, lastKey, lastDelete string // of applied documents; used by the sender's callback goroutine, and by Run at the end
	counts
}

// counts are updated by all goroutines.
type counts struct {
	fileNumber, before atomic.Int64 // before: bytes of the files before the current one
	total              atomic.Int64 // bytes of all files, 0 if unknown
	records, completed atomic.Int64
	rejected, filtered atomic.Int64
	unsent, unknown    atomic.Int64
	deleted, documents atomic.Int64
	bytes              atomic.Int64 // of the documents
}

// open creates the sender.
func (r *run) open() (err error) {
	r.sender, err = bufferedsender.New(r.Indexer, &bufferedsender.Options[struct{}]{
		// Each action carries its key, so the sender need not find it in the document.
		Documents: bufferedsender.Documents[struct{}]{Key: func(struct{}) string { return "" }},
		Limits:    bufferedsender.Limits{MaxInFlight: r.InFlight, MaxBufferedBytes: max(bufferBytes, int64(r.InFlight)*2<<20), MaxBatchBytes: sink.UsualBatch},
		Queue:     r.Queue,
		Logger:    slog.New(slog.DiscardHandler),
	})
	return err
}

// add adds the documents of a block to the sender. A document that the sender refuses for its content becomes a
// reject.
func (r *run) add(j *job) error {
	for i := range j.rejects {
		if err := r.reject(&j.rejects[i], j); err != nil {
			return err
		}
	}
	clear(j.rejects)
	j.rejects = j.rejects[:0]
	if j.failed != nil {
		return j.failed
	}
	if r.sender == nil {
		r.completed.Add(int64(len(j.toAdd)))
		for _, a := range j.toAdd {
			if r.Take != nil {
				if err := r.Take(a); err != nil {
					return err
				}
			}
			r.release(j)
		}
		j.toAdd = nil
	}
	raw := r.raw()
	for len(j.toAdd) > 0 {
		err := raw.Add(r.ctx, j.toAdd...)
		if err == nil {
			break
		}
		var refused *bufferedsender.AddError
		if !errors.As(err, &refused) || !refused.Rejected() {
			return err
		}
		if j.toAdd = j.toAdd[refused.Accepted:]; sink.Enlarged(r.sender, err) {
			continue
		}
		a := &j.toAdd[0]
		kind := convert.KindValue
		if errors.Is(err, bufferedsender.ErrDocumentTooLarge) {
			kind = KindTooLarge
		}
		reject := a.Tag.(*record).reject(&convert.Problem{Kind: kind, Message: refused.Err.Error()})
		if err := r.reject(&reject, j); err != nil {
			return err
		}
		j.toAdd = j.toAdd[1:]
	}
	j.sent()
	r.release(j)
	return nil
}

func (r *run) raw() *bufferedsender.RawSender {
	if r.sender == nil {
		return nil
	}
	return r.sender.Raw()
}

// reject writes a record to the file of rejects, and settles it.
func (r *run) reject(reject *Reject, j *job) error {
	if err := r.Rejects.Write(reject); err != nil {
		return exit.With(exit.Incomplete, err)
	}
	r.rejected.Add(1)
	r.mu.Lock()
	r.kinds[reject.Kind]++
	r.mu.Unlock()
	r.release(j)
	return nil
}

// release settles one record of a block, or releases add's own hold on the block.
func (r *run) release(j *job) {
	if j.left.Add(-1) == 0 {
		r.water.Settle(j.number)
		j.free()
	}
}

// watch saves a checkpoint every second, and stops the run if the service is unavailable longer than Patience.
func (r *run) watch(ctx context.Context) {
	tick := time.NewTicker(saveEvery)
	defer tick.Stop()
	wait := sink.Patience{For: r.Patience}
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			if err := r.save(false); err != nil {
				r.stop(err)
			}
			if r.sender == nil {
				continue
			}
			if err := wait.Over(now, r.sender); err != nil {
				r.stop(err)
			}
		}
	}
}

// close sends the added documents. After an interruption it waits up to grace; if sending is suspended or the run
// failed, it does not wait.
func (r *run) close() error {
	if r.sender == nil {
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer context.AfterFunc(r.ctx, func() {
		if errors.Is(context.Cause(r.ctx), errInterrupted) && r.raw().Info().Held == nil {
			time.AfterFunc(grace, cancel)
			return
		}
		cancel()
	})()
	flushed := r.sender.Flush(ctx, nil) // Close alone would leave unsent documents to the next process with the queue
	err := r.sender.Close(ctx)
	var said *bufferedsender.CloseError
	if errors.As(err, &said) && !said.CallbackStuck {
		err = nil // the outcome of each document was reported
	}
	n, cause := r.unsent.Load(), context.Cause(r.ctx)
	switch {
	case err != nil:
		return err
	case n == 0 && errors.Is(cause, errInterrupted):
		return nil // all added documents are sent; the pipeline reports the interruption
	case cause != nil:
		return cause
	case n > 0:
		return exit.With(exit.Service, errors.Join(fmt.Errorf("not sent: %s", amount.Of(n, "document")), flushed))
	}
	return nil
}

// kindsNow returns the number of rejected records by kind.
func (r *run) kindsNow() map[string]int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.kinds)
}
