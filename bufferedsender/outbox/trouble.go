package outbox

import (
	"log/slog"
	"time"
)

// trouble is work of a kind that fails. It is told of when it begins and when it is over, and also when the error
// becomes another one; of the same error not more than each troubleEvery.
type trouble struct {
	what string
	err  error // nil: it works
	said string
	at   time.Time
	told bool // and not that it is over
}

const troubleEvery = 5 * time.Minute

// fails notes that work of a kind has failed.
func (l *loop) fails(k kind, level slog.Level, what string, err error) {
	t, now := &l.troubles[k], time.Now()
	if t.said != err.Error() || now.Sub(t.at) >= troubleEvery {
		l.r.log(level, what, err)
		t.said, t.at, t.told = err.Error(), now, true
	}
	t.what, t.err = what, err
	l.r.trouble.Store(&troubled{what, err})
}

// works notes that work of a kind has succeeded.
func (l *loop) works(k kind) {
	t := &l.troubles[k]
	if t.err == nil {
		return
	}
	if t.told {
		l.r.opts.Logger.Info("outbox: this is over: "+t.what, "queue", l.r.table.Queue)
	}
	t.err, t.told = nil, false
	for i := range l.troubles {
		if t := &l.troubles[i]; t.err != nil {
			l.r.trouble.Store(&troubled{t.what, t.err})
			return
		}
	}
	l.r.trouble.Store(nil)
}

// troubled is a trouble for Ready.
type troubled struct {
	what string
	err  error
}

func (t *troubled) Error() string { return "outbox: " + t.what + ": " + t.err.Error() }
func (t *troubled) Unwrap() error { return t.err }
