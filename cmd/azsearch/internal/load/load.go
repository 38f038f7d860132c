// Package load is for azsearch load: it reads files, makes documents of their records, sends these through a buffered
// sender, and keeps account of each record.
//
// One goroutine reads blocks of whole records, several convert them, one adds the documents in the order of the files,
// so that of two records with one key the later one counts. A block is settled when each of its records is in the
// index or in the file of rejects; the position that a checkpoint has is below everything that is not settled:
//
//	a document is sent             the checkpoint is before its block: it is sent again
//	it is applied, or rejected     the same, until the whole block is
//	the checkpoint is written      rejects are on the disk before it; the old file counts until the rename
//
// So a crash leaves no gap, and at most the blocks since the last checkpoint are sent twice.
package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/convert"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/exit"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/jqfilter"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/sink"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/source"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
)

// Options say what is loaded, and how.
type Options struct {
	Files  []string
	Source source.Options
	Plan   *convert.Plan
	Filter *jqfilter.Filter // or nil

	Indexer    bufferedsender.Indexer       // nil: a dry run
	Take       func(models.RawAction) error // in a dry run gets each document, in the order of the files; or nil
	Queue      queue.Queue                  // or nil
	InFlight   int                          // requests at once
	Patience   time.Duration                // how long the service may be gone
	Rejects    *Rejects
	Checkpoint *Checkpoint // or nil
	Watch      func(ctx context.Context, now func() Progress)
}

const (
	converted   = 8                // blocks that are converted and not added at most
	grace       = 30 * time.Second // for what is in flight after an interruption
	saveEvery   = time.Second
	bufferBytes = 24 << 20
)

var (
	errInterrupted = errors.New("interrupted")
	errQuota       = errors.New("the service is full: its quota of documents or storage is used up")
)

// Run loads everything. The report is complete also with an error, which has an exit code.
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

// run is one load.
type run struct {
	Options
	began   time.Time
	ctx     context.Context // of reading, converting and adding; its cause says why the run ends early
	stop    context.CancelCauseFunc
	sender  *bufferedsender.BufferedSender[struct{}]
	outcome func(models.Outcome)

	water   events.LowWatermark[int64] // blocks, by number
	first   place                      // where it begins
	saved   place                      // of the last checkpoint; the goroutine of watch, and Run after it
	earlier int64                      // rejects of the run that is resumed

	mu     sync.Mutex // guards the following
	blocks int64      // begun
	places map[int64]place
	kinds  map[string]int64
	file   *source.File // that is being read

	firstKey, lastKey, lastDelete string // of what was applied; the publisher's goroutine, and Run at the end
	counts
}

// counts are counted by all goroutines.
type counts struct {
	fileNumber, before atomic.Int64 // before: bytes of the files before it
	total              atomic.Int64 // bytes of all files, 0 if not known
	records, completed atomic.Int64
	rejected, filtered atomic.Int64
	unsent, unknown    atomic.Int64
	deleted, documents atomic.Int64
	bytes              atomic.Int64 // of the documents
}

// open makes the sender.
func (r *run) open() (err error) {
	r.sender, err = bufferedsender.New(r.Indexer, &bufferedsender.Options[struct{}]{
		// The key is said with each document, so it is not searched for.
		Documents: bufferedsender.Documents[struct{}]{Key: func(struct{}) string { return "" }},
		Limits:    bufferedsender.Limits{MaxInFlight: r.InFlight, MaxBufferedBytes: max(bufferBytes, int64(r.InFlight)*2<<20), MaxBatchBytes: 4 << 20},
		Queue:     r.Queue,
		Logger:    slog.New(slog.DiscardHandler),
	})
	return err
}

// pipeline reads, converts and adds until everything is added.
func (r *run) pipeline() error {
	var total int64
	for _, name := range r.Files {
		size := sizeOf(name)
		if total += size; size == 0 {
			total = 0
			break
		}
	}
	r.total.Store(total)
	jobs, order := make(chan *job), make(chan *job, converted)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			w := newWorker(r)
			for j := range jobs {
				w.convert(j)
				close(j.done)
			}
		})
	}
	read := make(chan error, 1)
	go func() {
		err := r.read(func(b *source.Block) bool { return r.begin(b, jobs, order) })
		close(jobs)
		close(order)
		read <- err
	}()
	var err error
	for j := range order {
		<-j.done
		if err == nil {
			err = r.add(j)
		}
		if err != nil {
			r.stop(err)
		}
	}
	workers.Wait()
	if readErr := <-read; err == nil {
		err = readErr
	}
	if err != nil && r.ctx.Err() != nil {
		err = context.Cause(r.ctx)
	}
	return err
}

// begin hands a block over, in the order of the blocks.
func (r *run) begin(b *source.Block, jobs, order chan *job) bool {
	j := newJob(b)
	r.mu.Lock()
	r.blocks++
	j.number = r.blocks
	r.places[j.number] = place{int(r.fileNumber.Load()), b.End}
	r.mu.Unlock()
	if err := r.water.Begin(j.number); err != nil {
		r.stop(err)
		return false
	}
	for _, to := range []chan *job{order, jobs} {
		select {
		case to <- j:
		case <-r.ctx.Done():
			if to == jobs {
				j.failed = context.Cause(r.ctx)
				close(j.done) // the adder waits for it, and stops
			}
			return false
		}
	}
	return true
}

// read calls yield with each block of all files, from where the run begins.
func (r *run) read(yield func(*source.Block) bool) error {
	for i := r.first.File; i < len(r.Files); i++ {
		more, err := r.readFile(i, yield)
		if err != nil {
			return exit.With(exit.Incomplete, err)
		}
		if !more {
			return context.Cause(r.ctx)
		}
	}
	return nil
}

func (r *run) readFile(i int, yield func(*source.Block) bool) (more bool, err error) {
	f, err := source.Open(r.Files[i], r.Source)
	if err != nil {
		return false, err
	}
	defer func() {
		r.mu.Lock()
		r.file = nil
		r.mu.Unlock()
		r.before.Add(f.Size)
		f.Close()
	}()
	r.fileNumber.Store(int64(i))
	r.mu.Lock()
	r.file = f
	r.mu.Unlock()
	if i == r.first.File {
		if err := f.Seek(r.first.Position); err != nil {
			return false, fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	for r.ctx.Err() == nil {
		b, err := f.Next()
		if errors.Is(err, io.EOF) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		if !yield(b) {
			break
		}
	}
	return false, nil
}

// add gives the documents of a block to the sender. What it does not accept because of the document is a reject.
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
		a := &j.toAdd[refused.Accepted]
		kind := convert.KindValue
		if errors.Is(err, bufferedsender.ErrDocumentTooLarge) {
			kind = KindTooLarge
		}
		reject := a.Tag.(*record).reject(&convert.Problem{Kind: kind, Message: refused.Err.Error()})
		if err := r.reject(&reject, j); err != nil {
			return err
		}
		j.toAdd = j.toAdd[refused.Accepted+1:]
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

// reject keeps a record that is not in the index.
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

// release settles one record of a block, or its last hold.
func (r *run) release(j *job) {
	if j.left.Add(-1) == 0 {
		r.water.Settle(j.number)
		j.free()
	}
}

// settled runs on the goroutine of the sender for each document.
func (r *run) settled(o models.Outcome) {
	record := o.Tag.(*record)
	switch {
	case o.Completed():
		r.completed.Add(1)
		if record.deletes {
			r.deleted.Add(1)
			if r.lastDelete = o.Key; r.firstKey == o.Key {
				r.firstKey = ""
			}
		} else {
			if r.lastKey = o.Key; r.firstKey == "" {
				r.firstKey = o.Key
			}
		}
		r.release(record.job)
		return
	case unsent(o):
		r.unsent.Add(1)
		if o.Unknown {
			r.unknown.Add(1)
		}
		if o.Reason == models.ReasonQuota {
			r.stop(exit.With(exit.Service, fmt.Errorf("%w; delete documents or choose a larger tier, then run it again", errQuota)))
		}
		return
	}
	reject := record.reject(&convert.Problem{Kind: KindService, Message: message(o)})
	reject.Status, reject.Key = o.Status, o.Key
	if elsewhere(o.Err) {
		reject.Kind = KindElsewhere
	}
	if err := r.reject(&reject, record.job); err != nil {
		r.stop(err) // the record is not released, so a checkpoint stays below it
	}
}

// elsewhere reports whether the queue has kept an action that is not sent here: another process has it, or people.
func elsewhere(err error) bool {
	return errors.Is(err, bufferedsender.ErrElsewhere) || errors.Is(err, bufferedsender.ErrParked)
}

// unsent reports whether an outcome says nothing about the document.
func unsent(o models.Outcome) bool {
	switch o.Reason {
	case models.ReasonClosed, models.ReasonWithdrawn, models.ReasonPurged, models.ReasonCredentials, models.ReasonNoIndex,
		models.ReasonClient, models.ReasonQuota:
		return !elsewhere(o.Err)
	}
	return false
}

func message(o models.Outcome) string {
	var failed *bufferedsender.ActionError
	switch {
	case errors.As(o.Err, &failed) && failed.Message != "":
		return failed.Message
	case failed != nil && failed.Err != nil:
		return failed.Err.Error()
	}
	return o.Err.Error()
}

// watch saves checkpoints, and gives up when the service is gone for too long.
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

// close sends what was added, and waits as long as that makes sense.
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
	flushed := r.sender.Flush(ctx, nil) // Close alone would leave the rest to the next process that has the queue
	err := r.sender.Close(ctx)
	var said *bufferedsender.CloseError
	if errors.As(err, &said) && !said.CallbackStuck {
		err = nil // each document has said how it ended
	}
	n, cause := r.unsent.Load(), context.Cause(r.ctx)
	switch {
	case err != nil:
		return err
	case n == 0 && errors.Is(cause, errInterrupted):
		return nil // everything that was added is sent; whether that was all, the pipeline says
	case cause != nil:
		return cause
	case n > 0:
		return exit.With(exit.Service, errors.Join(fmt.Errorf("%d documents were not sent", n), flushed))
	}
	return nil
}

// kindsNow returns how many records were rejected, by kind.
func (r *run) kindsNow() map[string]int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.kinds)
}
