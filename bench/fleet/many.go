package fleet

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/bench/internal/figures"
	"github.com/go-azsearch/azsearch/bench/internal/measure"
	"github.com/go-azsearch/azsearch/bench/internal/slow"
	"github.com/go-azsearch/azsearch/bufferedsender/fleet"
)

const busyIndexes = 100

func many(ctx context.Context, p *plan, t *figures.Table) error {
	var alone, among float64
	if err := errors.Join(
		labelled(ctx, "alone", func(ctx context.Context) (err error) { alone, err = busy(ctx, p, t, busyIndexes); return err }),
		labelled(ctx, "among", func(ctx context.Context) (err error) { among, err = busy(ctx, p, t, p.indexes); return err }),
	); err != nil {
		return err
	}
	t.Add("CPU a document of 100 busy ones, to that without the others", figures.AtMost(1.1), among/alone)
	t.Add("CPU s a million documents of 100 without others", figures.Informs, alone)
	return nil
}

// busy returns the CPU seconds per million documents of the first indexes, after every index has sent a document.
func busy(ctx context.Context, p *plan, t *figures.Table, indexes int) (cpu float64, err error) {
	s := newService()
	s.names = namesOf(indexes)
	for _, name := range s.names {
		s.index(name) // so that its memory does not count as the fleet's
	}
	f, err := newFleet(s, slots, 1)
	if err != nil {
		return 0, err
	}
	before := measure.Heap()
	if _, err := f.Discover(ctx); err != nil {
		return 0, err
	}
	known := measure.Heap()
	s.hurry.Store(true)
	producers, err := useAll(ctx, s, f)
	s.hurry.Store(false)
	if err != nil {
		return 0, err
	}
	for i := range producers {
		producers[i].docs = nil
	}
	used := measure.Heap() - float64(len(producers))*producerBytes
	if indexes > busyIndexes {
		t.Add("bytes of an index that is known", figures.AtMost(2000), (known-before)/float64(indexes))
		t.Add("bytes of an index that was used", figures.AtMost(20_000), (used-before)/float64(indexes))
		t.Add("goroutines while all are idle", figures.Informs, float64(runtime.NumGoroutine()))
	}
	some := producers[:busyIndexes]
	for i, x := range some {
		*x = *producerOf(x.sender, x.index, i, 100)
		x.added = 1
	}
	l := start(ctx, some, 0, false)
	err = slow.Wait(ctx, time.Second+p.window/2)
	var clock measure.Clock
	clock.Start()
	n := -appliedBy(s, indexes)
	err = errors.Join(err, slow.Wait(ctx, p.window))
	n += appliedBy(s, indexes)
	cpu = clock.Stop().CPUSeconds / float64(n) * 1e6
	err = errors.Join(err, l.end())
	var all []*index
	for _, name := range s.names {
		all = append(all, s.index(name))
	}
	return cpu, errors.Join(err, finish(ctx, s, f, all, added(producers...)))
}

// producerBytes is the approximate size of a producer without documents.
const producerBytes = 64

// useAll creates the senders of all indexes and sends a document with each.
func useAll(ctx context.Context, s *service, f *fleet.Fleet) ([]*producer, error) {
	const workers = 16
	all := make([]*producer, len(s.names))
	errs := make([]error, workers)
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			for i := w; i < len(all) && errs[w] == nil; i += workers {
				one, err := fleet.Sender(f, s.names[i], senderOptions())
				if err != nil {
					errs[w] = err
					return
				}
				all[i] = producerOf(one, s.index(s.names[i]), 0, 1)
				errs[w] = errors.Join(all[i].add(ctx, false), one.Flush(ctx, nil))
			}
		})
	}
	wait.Wait()
	return all, errors.Join(errs...)
}

func appliedBy(s *service, indexes int) (n int64) {
	for _, name := range s.names[:min(indexes, busyIndexes)] {
		n += s.index(name).applied.Load()
	}
	return n
}
