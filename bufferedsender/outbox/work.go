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

// kind is work that runs beside the loop, one of each at a time.
type kind int

// The first five are what can be next for a flight.
const (
	kindOffer  kind = iota
	kindFetch       // the bodies of its rows
	kindRefill      // the rows in its gap
	kindLoad        // the truth about its key
	kindExport      // what its row means for other keys
	kindTick
	kindRead
	kindFinish
	kindWithdraw
	kindGive
	kindTidy
	kindDoubt
	kinds
)

// job is what the loop knows of a kind of work. A failure is logged when it begins and when it is over, and also when
// the error becomes another one; the same error not more than each troubleEvery.
type job struct {
	busy  bool
	retry relay.Retry

	trouble *troubled // nil: it works
	said    string
	saidAt  time.Time
	told    bool // and not that it is over
}

const troubleEvery = 5 * time.Minute

// retryMost is how long after a failure the same is tried again at the latest.
const retryMost = 5 * time.Second

// fails notes that work of a kind has failed, which is done again later.
func (l *loop) fails(k kind, level slog.Level, message string, err error, attrs ...any) {
	j, now := &l.jobs[k], time.Now()
	j.retry.Failed(now, min(retryMost, l.r.opts.renew))
	if j.said != err.Error() || now.Sub(j.saidAt) >= troubleEvery {
		l.r.log(level, message, err, attrs...)
		j.said, j.saidAt, j.told = err.Error(), now, true
	}
	j.trouble = &troubled{message, err}
	l.r.trouble.Store(j.trouble)
	if errors.Is(err, errReplaced) {
		l.failure = cmp.Or(l.failure, err)
	}
}

// works notes that work of a kind has succeeded.
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

// troubled is a trouble for Ready.
type troubled struct {
	message string
	err     error
}

func (t *troubled) Error() string { return t.message + ": " + t.err.Error() }
func (t *troubled) Unwrap() error { return t.err }

// inbox is what others leave for the loop: functions that it runs.
type inbox struct {
	mu     sync.Mutex
	events []func()
	signal chan struct{} // of capacity 1: there is something
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

// beginWork runs f beside the loop, and then what it returns on the loop.
func (l *loop) beginWork(parent context.Context, k kind, timeout time.Duration, f func(ctx context.Context) (then func())) {
	l.jobs[k].busy = true
	l.beside.Add(1)
	go func() {
		defer l.beside.Done()
		ctx, cancel := parent, context.CancelFunc(func() {})
		if timeout > 0 {
			ctx, cancel = context.WithTimeout(parent, timeout)
		}
		defer cancel()
		then := f(ctx)
		l.inbox.post(func() {
			l.jobs[k].busy = false
			then()
		})
	}()
}
