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
	since time.Time // when it became busy
	hangs *troubled // what was said of that
	retry relay.Retry

	trouble *troubled // nil: it works
	said    string
	saidAt  time.Time
	told    bool // and not that it is over
}

const troubleEvery = 5 * time.Minute

// unheard is for how long work may not return before that is worth an alarm, as in the sender.
const unheard = 10 * time.Second

// waitsFor is who has not returned. What a full sender holds back, or nobody waits for, has no name.
var waitsFor = [kinds]error{
	kindFetch: errDatabase, kindRefill: errDatabase, kindTick: errDatabase, kindRead: errDatabase, kindFinish: errDatabase,
	kindLoad: errors.New("Loader"), kindExport: errors.New("Export"),
}

var errDatabase = errors.New("database")

// hear notes what has been under way for too long: a Loader has no time limit, and a statement half a minute.
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

// returns notes that work of a kind is over, as then has said, which may have failed.
func (l *loop) returns(k kind, then func()) {
	j := &l.jobs[k]
	j.busy = false
	if then(); j.hangs != nil && j.trouble == j.hangs {
		l.works(k)
	}
	j.hangs = nil
}

// retryMost is how long after a failure the same is tried again at the latest.
const retryMost = 5 * time.Second

// fails notes that work of a kind has failed, which is done again later.
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

// says writes to the log what fails, unless it has been said.
func (l *loop) says(k kind, level slog.Level, message string, err error, attrs ...any) {
	if j, now := &l.jobs[k], time.Now(); j.said != err.Error() || now.Sub(j.saidAt) >= troubleEvery {
		l.r.log(level, message, err, attrs...)
		j.said, j.saidAt, j.told = err.Error(), now, true
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
