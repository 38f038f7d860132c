package queue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/bench/internal/measure"
	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/filequeue"
)

const (
	perCall   = 1000
	bodyBytes = 650
	lone      = 64
)

var body = bytes.Repeat([]byte("x"), bodyBytes)

func keysFrom(first, n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("hotel-%012d", first+i)
	}
	return keys
}

// used opens a store, measures do with it, and closes it.
func used(dir string, k kind, do func(s store) error) (u measure.Usage, err error) {
	s, err := k.open(dir)
	if err != nil {
		return u, err
	}
	var clock measure.Clock
	clock.Start()
	err = do(s)
	u = clock.Stop()
	return u, errors.Join(err, s.close())
}

func costs(u measure.Usage, documents int) []figure {
	return []figure{
		{Name: "CPU s per 10⁶", Value: u.CPUSeconds / float64(documents) * 1e6},
		{Name: "documents/s", Value: float64(documents) / u.Seconds},
	}
}

// round appends, reserves and settles the documents of one call.
func round(ctx context.Context, s store, first int) error {
	if err := s.append(ctx, 0, keysFrom(first, perCall), body); err != nil {
		return err
	}
	r, err := s.reserve(ctx, perCall)
	if err != nil {
		return err
	}
	if r.len() != perCall || r.bytes < perCall*bodyBytes {
		return fmt.Errorf("%d documents with %d bytes were reserved", r.len(), r.bytes)
	}
	return s.settle(ctx, r)
}

func throughCalls(ctx context.Context, p *plan, dir string, k kind) ([]figure, error) {
	documents := p.Scaled(200, 2) * perCall
	u, err := used(dir, k, func(s store) error {
		for first := 0; first < documents; first += perCall {
			if err := round(ctx, s, first); err != nil {
				return err
			}
		}
		return nil
	})
	return costs(u, documents), err
}

func loneCallers(ctx context.Context, p *plan, dir string, k kind) ([]figure, error) {
	each := p.Scaled(2000, 20)
	u, err := used(dir, k, func(s store) error {
		var wg sync.WaitGroup
		errs := make([]error, lone)
		for caller := range lone {
			wg.Go(func() {
				for i := 0; i < each && errs[caller] == nil; i++ {
					errs[caller] = s.append(ctx, caller, keysFrom(caller*each+i, 1), body)
				}
			})
		}
		wg.Wait()
		return errors.Join(errs...)
	})
	return costs(u, lone*each), err
}

func recovery(ctx context.Context, p *plan, dir string, k kind) ([]figure, error) {
	keys := p.Scaled(1000, 2) * perCall
	_, err := used(dir, k, func(s store) error {
		for first := 0; first < keys; first += perCall {
			if err := s.append(ctx, 0, keysFrom(first, perCall), body); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	before, begun := measure.Heap(), time.Now()
	s, err := k.open(dir)
	if err != nil {
		return nil, err
	}
	took := time.Since(begun)
	figures := []figure{{Name: "s", Value: took.Seconds()}, {Name: "bytes a key", Value: (measure.Heap() - before) / float64(keys)}}
	return figures, s.close()
}

func throughAndEmpty(ctx context.Context, p *plan, dir string, k kind) ([]figure, error) {
	s, err := k.open(dir)
	if err != nil {
		return nil, err
	}
	calls := p.Scaled(10_000, 3)
	side := max(calls/20, 1) // calls whose cost is compared
	some := func(first, n int) (u measure.Usage, err error) {
		var clock measure.Clock
		clock.Start()
		for i := 0; i < n && err == nil; i++ {
			err = round(ctx, s, (first+i)*perCall)
		}
		return clock.Stop(), err
	}
	early, err := some(0, side)
	_, err2 := some(side, calls-2*side)
	late, err3 := some(calls-side, side)
	if err := errors.Join(err, err2, err3, s.close()); err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(dir, "queue", "log-*"))
	if err != nil {
		return nil, err
	}
	var size int64
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil {
			return nil, err
		}
		size += info.Size()
	}
	return []figure{
		{Name: "files", Value: float64(len(files))}, {Name: "MB", Value: float64(size) / 1e6},
		{Name: "CPU of the last call to the first", Value: late.CPUSeconds / early.CPUSeconds},
	}, nil
}

func hotKeys(ctx context.Context, p *plan, dir string) ([]figure, error) {
	appends, keys := p.Scaled(1000, 20)*perCall, p.Scaled(10, 1)*perCall
	before := measure.Heap()
	q, err := filequeue.Open(filepath.Join(dir, "queue"), nil)
	if err != nil {
		return nil, err
	}
	s := &fileQueue{q: q, callers: map[int]*queue.Call{}}
	for first := 0; first < appends; first += perCall {
		version := fmt.Appendf(nil, "%d", first/keys)
		if err := s.append(ctx, 0, keysFrom(first%keys, perCall), version); err != nil {
			return nil, err
		}
	}
	grown := measure.Heap() - before
	sent, last := 0, fmt.Sprint((appends-1)/keys)
	for {
		r, err := s.reserve(ctx, perCall)
		if err != nil {
			return nil, err
		}
		if r.len() == 0 {
			break
		}
		for i := range r.leases {
			recs := r.leases[i].Records
			if len(recs) != 1 || string(recs[0].Body) != last {
				return nil, fmt.Errorf("%s has %d records, the first is %s, and the last value is %s", r.leases[i].Key, len(recs), recs[0].Body, last)
			}
		}
		sent += r.len()
		if err := s.settle(ctx, r); err != nil {
			return nil, err
		}
	}
	if sent != keys {
		return nil, fmt.Errorf("%d of %d keys were sent", sent, keys)
	}
	return []figure{{Name: "documents sent", Value: float64(sent)}, {Name: "bytes of memory a key", Value: grown / float64(keys)}}, q.Close()
}
