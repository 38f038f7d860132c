package outbox

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/internal/relay"
)

// kind is a kind of work on another goroutine; one of each kind runs at a time.
type kind int

// The first five are the possible next steps of a flight.
const (
	kindOffer  kind = iota
	kindFetch       // reads the bodies of its rows
	kindRefill      // reads the rows in its gap
	kindLoad        // loads its document
	kindExport      // exports its row
	kindTick
	kindRead
	kindFinish
	kindWithdraw
	kindGive
	kindTidy
	kindDoubt
	kinds
)

// job is the loop's state of a kind of work. A failure is logged when it begins, when the error changes, and when it is
// over; the same error is logged at most every troubleEvery.
type job struct {
	busy  bool
	since time.Time // when it started
	hangs *troubled // the logged trouble that it has not returned
	retry relay.Retry

	trouble *troubled // nil: it works
	said    string
	saidAt  time.Time
	told    bool // the end of the trouble is not logged yet
}

const troubleEvery = 5 * time.Minute

// unheard is how long work may run before a warning, as in the sender.
const unheard = 10 * time.Second

// waitsFor is the party that has not returned. Waits for a full sender, and work that delays nothing, have none.
var waitsFor = [kinds]error{
	kindFetch: errDatabase, kindRefill: errDatabase, kindTick: errDatabase, kindRead: errDatabase, kindFinish: errDatabase,
	kindLoad: errors.New("Loader"), kindExport: errors.New("Export"),
}

var errDatabase = errors.New("database")

// Work that runs for too long is reported: a Loader has no time limit, and a statement has half a minute.
func (l *loop) hear(now time.Time) {
	for k := range kinds {
		j := &l.jobs[k]
		if !j.busy || j.hangs != nil || waitsFor[k] == nil || now.Sub(j.since) < unheard {
			continue
		}
		j.hangs = &troubled{"outbox: call has not returned for ten seconds", waitsFor[k]}
		if l.says(k, slog.LevelWarn, j.hangs.message, j.hangs.err); j.trouble == nil {
			j.trouble = j.hangs
			l.r.trouble.Store(j.trouble)
		}
	}
}

// returns records the end of a kind of work; then reports the result, which may be a failure.
func (l *loop) returns(k kind, then func()) {
	j := &l.jobs[k]
	j.busy = false
	if then(); j.hangs != nil && j.trouble == j.hangs {
		l.works(k)
	}
	j.hangs = nil
}

// retryMost is the maximum time between a failure and its retry.
const retryMost = 5 * time.Second

// fails records a failure of a kind of work, which is retried later.
func (l *loop) fails(k kind, level slog.Level, message string, err error, attrs ...any) {
	j := &l.jobs[k]
	j.retry.Failed(time.Now(), min(retryMost, l.r.opts.renew))
	l.says(k, level, message, err, attrs...)
	j.trouble = &troubled{message, err}
	l.r.trouble.Store(j.trouble)
	if errors.Is(err, errReplaced) {
		l.failure = cmp.Or(l.failure, err)
	}
}

// says logs a failure, unless it was just logged.
func (l *loop) says(k kind, level slog.Level, message string, err error, attrs ...any) {
	if j, now := &l.jobs[k], time.Now(); j.said != err.Error() || now.Sub(j.saidAt) >= troubleEvery {
		l.r.log(level, message, err, attrs...)
		j.said, j.saidAt, j.told = err.Error(), now, true
	}
}

// works records a success of a kind of work.
func (l *loop) works(k kind) {
	j := &l.jobs[k]
	if j.retry.Failures = 0; j.trouble == nil {
		return
	}
	if j.told {
		l.r.opts.Logger.Info("outbox: recovered", "queue", l.r.table.Queue, "from", j.trouble.message)
	}
	j.trouble, j.told = nil, false
	var other *troubled
	for i := range l.jobs {
		other = cmp.Or(other, l.jobs[i].trouble)
	}
	l.r.trouble.Store(other)
}

// troubled is an error for Ready.
type troubled struct {
	message string
	err     error
}

func (t *troubled) Error() string { return t.message + ": " + t.err.Error() }
func (t *troubled) Unwrap() error { return t.err }

// inbox holds functions that other goroutines leave for the loop to run.
type inbox struct {
	mu     sync.Mutex
	events []func()
	signal chan struct{} // capacity 1: inbox is not empty
}

func (b *inbox) post(f func()) {
	b.mu.Lock()
	first := len(b.events) == 0
	b.events = append(b.events, f)
	b.mu.Unlock()
	if !first {
		return
	}
	select {
	case b.signal <- struct{}{}:
	default:
	}
}

func (b *inbox) take() []func() {
	b.mu.Lock()
	defer b.mu.Unlock()
	events := b.events
	b.events = nil
	return events
}

// beginWork runs f on another goroutine, and then the function that it returns on the loop.
func (l *loop) beginWork(parent context.Context, k kind, timeout time.Duration, f func(ctx context.Context) (then func())) {
	l.jobs[k].busy, l.jobs[k].since = true, time.Now()
	l.beside.Add(1)
	go func() {
		defer l.beside.Done()
		ctx, cancel := parent, context.CancelFunc(func() {})
		if timeout > 0 {
			ctx, cancel = context.WithTimeout(parent, timeout)
		}
		defer cancel()
		then := f(ctx)
		l.inbox.post(func() { l.returns(k, then) })
	}()
}
