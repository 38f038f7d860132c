package publisher

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

// flight is a slot and the request in it.
type flight[V, R any] struct {
	refs  []ref
	batch Batch[V]
	cut   bool // it was the size limit that ended it
	epoch int  // of the loop when it started
	pass  Pass // of the gate, or nil

	reported bool // to the gate, by the loop
	left     instant
	started  bool
	took     time.Duration
	reply    Reply[R]
}

// landings are the requests that have ended. A worker that brings one never
// blocks, not even one that Close has left behind.
type landings[V, R any] struct {
	mu      sync.Mutex
	flights []*flight[V, R] // guarded by mu; workers append, the loop takes away
}

func (q *landings[V, R]) add(f *flight[V, R]) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.flights = append(q.flights, f)
}

// next removes and returns the first, or nil.
func (q *landings[V, R]) next() *flight[V, R] {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.flights) == 0 {
		return nil
	}
	f := q.flights[0]
	q.flights = slices.Delete(q.flights, 0, 1)
	return f
}

func (q *landings[V, R]) any() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.flights) > 0
}

// send starts the next request.
func (l *loop[V, R]) send() {
	now := l.p.now()
	var f *flight[V, R]
	if n := len(l.idle); n > 0 {
		f, l.idle = l.idle[n-1], l.idle[:n-1]
	} else {
		f = new(flight[V, R])
	}
	limits := l.limits()
	f.pass, l.pass = l.pass, nil
	if f.pass != nil && f.pass.Probe() {
		limits.actions = 1
		limits.probe = true
	}
	f.refs, f.cut = l.pending.take(f.refs[:0], limits)
	f.batch = Batch[V]{ID: l.p.config.NewID(), Items: f.batch.Items[:0]}
	bytes, retries := 0, 0
	for _, r := range f.refs {
		n := l.pending.at(r)
		n.item.Attempt++
		n.item.Waited = now - n.accepted
		if !n.sent {
			n.sent, n.wait = true, l.crowd.newWait()
		}
		if !n.carried {
			n.carried = true
			l.carried += n.item.travelling()
		}
		if n.item.Attempt > 1 {
			retries++
		}
		bytes += len(n.item.Body)
		f.batch.Items = append(f.batch.Items, n.item)
	}
	f.batch.Bytes = limits.size(len(f.refs), bytes)
	f.epoch, f.started, f.reported, f.left = l.epoch, false, false, now
	l.lastStart, l.started = now, true
	l.inFlight = append(l.inFlight, f)

	a := &l.p.admission
	a.mu.Lock()
	a.stats.Requests++
	a.stats.Retries += uint64(retries)
	a.stats.BytesSent += uint64(f.batch.Bytes)
	a.stats.InFlight++
	a.stats.Carried = l.carried
	a.mu.Unlock()

	l.progress.Add(1)
	l.p.config.Hooks.Sent(&f.batch)
	l.progress.Add(1)
	l.start(f)
}

// start hands a request over to a worker.
func (l *loop[V, R]) start(f *flight[V, R]) {
	f.started = true
	if l.cancelled() { // while the Sent hook ran: it must not leave any more
		f.reply = Reply[R]{Err: ErrAbandoned, Results: make([]Result[R], len(f.refs))}
		l.landings.add(f)
		return
	}
	f.reply = Reply[R]{Err: errGoexit, Pause: true, RetryAfter: -1, Service: ServiceFails} // replaced, unless the worker is ended
	l.p.workers.Add(1)
	go l.work(f)
}

// work is a worker: it sends the batch of a flight and lands it.
func (l *loop[V, R]) work(f *flight[V, R]) {
	defer l.p.workers.Done()
	started := l.p.now()
	defer func() {
		f.took = l.p.now() - started
		l.landings.add(f)
		l.p.signal()
	}()
	f.reply = l.p.sendBatch(&f.batch)
	l.p.reportEarly(f.pass, &f.reply)
}

var errGoexit = errors.New("the client has ended its goroutine")

// sendBatch runs on the worker's goroutine.
func (p *Publisher[V, R]) sendBatch(batch *Batch[V]) (reply Reply[R]) {
	ctx, cancel := p.requests, context.CancelFunc(func() {})
	if p.config.RequestTimeout > 0 {
		ctx, cancel = context.WithTimeout(ctx, p.config.RequestTimeout)
	}
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			// Without results every item is retried.
			reply = Reply[R]{Err: &PanicError{v, debug.Stack()}, Pause: true, RetryAfter: -1, Service: ServiceFails}
		}
	}()
	return p.config.Transport.Send(ctx, batch)
}

// reportEarly tells the gate what became of a request, unless only the loop can
// judge it. It runs on the worker's goroutine, so that a hook that keeps the
// loop does not keep others from probing.
func (p *Publisher[V, R]) reportEarly(pass Pass, r *Reply[R]) {
	if pass == nil {
		return
	}
	health := r.Service
	switch {
	case p.requests.Err() != nil:
		health = ServiceUnclear // what was cut by Close says nothing about the service
	case health == ServiceThrottles && r.progress():
		health = ServiceSound
	case health == ServiceThrottles && pass.Probe():
		health = ServiceFails // it was one small request
	case health == ServiceThrottles:
		return
	}
	pass.Done(health, r.RetryAfter, r.Err)
}
