package sendertest

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// QueueProcess stands between a sender and what outlives its process: a queue and the
// service. It can be killed, and stopped for a while.
type QueueProcess struct {
	queue.Queue
	dead atomic.Bool

	mu      sync.Mutex
	stopped chan struct{} // closed when it goes on; nil: it runs
}

var errKilled = errors.New("the process was killed")

// Kill ends it: nothing that it does reaches anybody any more.
func (p *QueueProcess) Kill() {
	p.dead.Store(true)
	p.Continue()
}

// Stop holds everything that it does, until Continue.
func (p *QueueProcess) Stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped == nil {
		p.stopped = make(chan struct{})
	}
}

// Continue ends Stop.
func (p *QueueProcess) Continue() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped != nil {
		close(p.stopped)
		p.stopped = nil
	}
}

// alive waits while the process is stopped. A stopped process knows nothing of contexts
// that end.
func (p *QueueProcess) alive() error {
	for {
		p.mu.Lock()
		stopped := p.stopped
		p.mu.Unlock()
		if p.dead.Load() {
			return errKilled
		}
		if stopped == nil {
			return nil
		}
		<-stopped
	}
}

// Append is that of the queue, and so on.
func (p *QueueProcess) Append(ctx context.Context, call queue.Call) (queue.Receipt, error) {
	if err := p.alive(); err != nil {
		return queue.Receipt{}, err
	}
	return p.Queue.Append(ctx, call)
}

// Reserve is that of the queue.
func (p *QueueProcess) Reserve(ctx context.Context, want queue.Want) ([]queue.Lease, error) {
	if err := p.alive(); err != nil {
		return nil, err
	}
	return p.Queue.Reserve(ctx, want)
}

// Settle is that of the queue.
func (p *QueueProcess) Settle(ctx context.Context, ends ...queue.End) (stale, failed []queue.Lease, err error) {
	if err := p.alive(); err != nil {
		return nil, nil, err
	}
	return p.Queue.Settle(ctx, ends...)
}

// Extend is that of the queue.
func (p *QueueProcess) Extend(ctx context.Context, d time.Duration, leases ...queue.Lease) ([]queue.Lease, error) {
	if err := p.alive(); err != nil {
		return nil, err
	}
	return p.Queue.Extend(ctx, d, leases...)
}

// Settled is that of the queue.
func (p *QueueProcess) Settled(ctx context.Context, at queue.Position) (bool, error) {
	if err := p.alive(); err != nil {
		return false, err
	}
	return p.Queue.Settled(ctx, at)
}

// Stats is that of the queue.
func (p *QueueProcess) Stats(ctx context.Context) (queue.Stats, error) {
	if err := p.alive(); err != nil {
		return queue.Stats{}, err
	}
	return p.Queue.Stats(ctx)
}

// Watch is that of the queue. A process that is dead or stopped is not woken.
func (p *QueueProcess) Watch(wake func()) (stop func()) {
	return p.Queue.Watch(func() {
		if !p.dead.Load() {
			wake()
		}
	})
}

// processTransport is the way of a process to the service.
type processTransport struct {
	process *QueueProcess
	service *searchtest.Server
}

// Do lets a request through, unless its process is dead, or was stopped for longer than
// the request may take.
func (t *processTransport) Do(req *http.Request) (*http.Response, error) {
	if err := t.process.alive(); err != nil {
		return nil, err
	}
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	reply, err := t.service.Do(req)
	if err := t.process.alive(); err != nil {
		return nil, err // nobody hears it
	}
	return reply, err
}
