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

// QueueProcess stands between a sender and what outlives its process: a queue and the service. It can be killed, or
// frozen for a while.
type QueueProcess struct {
	queue.Queue
	dead atomic.Bool

	mu      sync.Mutex
	stopped chan struct{} // closed when it continues; nil: it runs
}

var errKilled = errors.New("the process was killed")

// Kill ends the process: its calls and requests have no further effect.
func (p *QueueProcess) Kill() {
	p.dead.Store(true)
	p.Continue()
}

// Stop freezes the process until Continue.
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

// alive waits while the process is frozen, even after contexts have ended.
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

// Append calls the queue, like the methods below.
func (p *QueueProcess) Append(ctx context.Context, call queue.Call) (queue.Receipt, error) {
	if err := p.alive(); err != nil {
		return queue.Receipt{}, err
	}
	return p.Queue.Append(ctx, call)
}

// Reserve calls the queue.
func (p *QueueProcess) Reserve(ctx context.Context, want queue.Want) ([]queue.Lease, error) {
	if err := p.alive(); err != nil {
		return nil, err
	}
	return p.Queue.Reserve(ctx, want)
}

// Settle calls the queue.
func (p *QueueProcess) Settle(ctx context.Context, ends ...queue.End) (stale, failed []queue.Lease, err error) {
	if err := p.alive(); err != nil {
		return nil, nil, err
	}
	return p.Queue.Settle(ctx, ends...)
}

// Extend calls the queue.
func (p *QueueProcess) Extend(ctx context.Context, d time.Duration, leases ...queue.Lease) ([]queue.Lease, error) {
	if err := p.alive(); err != nil {
		return nil, err
	}
	return p.Queue.Extend(ctx, d, leases...)
}

// Settled calls the queue.
func (p *QueueProcess) Settled(ctx context.Context, at queue.Position) (bool, error) {
	if err := p.alive(); err != nil {
		return false, err
	}
	return p.Queue.Settled(ctx, at)
}

// Stats calls the queue.
func (p *QueueProcess) Stats(ctx context.Context) (queue.Stats, error) {
	if err := p.alive(); err != nil {
		return queue.Stats{}, err
	}
	return p.Queue.Stats(ctx)
}

// Watch calls the queue. A dead process is not woken.
func (p *QueueProcess) Watch(wake func()) (stop func()) {
	return p.Queue.Watch(func() {
		if !p.dead.Load() {
			wake()
		}
	})
}

// processTransport carries the requests of a process to the service.
type processTransport struct {
	process *QueueProcess
	service *searchtest.Server
}

// Do executes a request, unless its process is dead, or was frozen for longer than the request may take.
func (t *processTransport) Do(req *http.Request) (*http.Response, error) {
	if err := t.process.alive(); err != nil {
		return nil, err
	}
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	reply, err := t.service.Do(req)
	if err := t.process.alive(); err != nil {
		return nil, err // the process does not receive the reply
	}
	return reply, err
}
