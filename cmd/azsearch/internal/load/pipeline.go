package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/exit"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/source"
)

// pipeline reads, converts and adds all records. It returns when everything is added or the run ends early.
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

// begin passes a block to the workers and to the adder, in the order of the files. It returns false if the run ends.
func (r *run) begin(b *source.Block, jobs, order chan *job) bool {
	j := newJob(b)
	r.mu.Lock()
	r.blocks++
	j.number = r.blocks
	r.places[j.number] = place{int(r.fileNumber.Load()), b.Next}
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
				close(j.done) // the adder waits for done, then stops
			}
			return false
		}
	}
	return true
}

// read calls yield with each block of all files, starting at r.starts. After a run that was done it reads nothing:
// the start is then before the last key of a query, because later rows may have that key, too.
func (r *run) read(yield func(*source.Block) bool) error {
	if r.done {
		return nil
	}
	for i := r.first; i < len(r.Files); i++ {
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
	o := r.Source
	var start source.Position
	if r.Checkpoint != nil {
		start = r.starts[i]
	}
	o.From = start.Key
	f, err := source.Open(r.ctx, r.Files[i], o)
	if err != nil {
		return false, err
	}
	defer func() {
		r.mu.Lock()
		r.file = nil
		r.mu.Unlock()
		r.before.Add(f.Read()) // less than its size if the run ends early
		f.Close()
	}()
	r.fileNumber.Store(int64(i))
	r.mu.Lock()
	r.file = f
	r.mu.Unlock()
	if err := f.Seek(start); err != nil {
		return false, fmt.Errorf("%s: %w", f.Name, err)
	}
	for r.ctx.Err() == nil {
		b, err := f.Next()
		if errors.Is(err, io.EOF) {
			return true, r.Checkpoint.read(i, f)
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
