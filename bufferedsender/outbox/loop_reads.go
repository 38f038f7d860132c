package outbox

import (
	"context"
	"database/sql"
	"log/slog"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/internal/sqlkit"
)

// woken reads at once, and for a while more often.
func (l *loop) woken(now time.Time) {
	l.wokenAt, l.readAt = now, now
}

func (l *loop) mayRead() bool {
	return !l.closing && !l.paused && l.holds.mask() != 0 && l.desk.asides < maxAside && l.room() > 0 && l.desk.bytes < l.r.opts.MaxBytes
}

// room is how many rows a read may bring; 0 until it is worth one.
func (l *loop) room() int {
	room := l.r.opts.MaxRows - l.desk.inHand()
	if room < min(maxRead, l.r.opts.MaxRows)/2 && l.desk.inHand() > 0 {
		return 0
	}
	return max(min(room, maxRead), 0)
}

func (l *loop) beginRead(now time.Time) {
	if l.busy[kindRead] || !l.mayRead() {
		return
	}
	if l.restart || !now.Before(l.fullAt) {
		l.known = l.after
		if l.full = !l.restart; l.restart {
			l.seen, l.known, l.dry = [classes]int64{}, [classes]int64{}, false
		}
		l.restart = false
		l.after, l.readAt, l.fullAt = [classes]int64{}, now, now.Add(l.r.opts.FullPass)
	}
	if now.Before(l.readAt) {
		return
	}
	mask, after, seen := l.holds.mask(), l.after, l.seen
	count, bytes := min(l.room(), l.readMost), min(maxReadBytes, l.r.opts.MaxBytes-l.desk.bytes)
	if after != seen { // what is in hand comes again
		count += len(l.desk.seqs)
	}
	l.readBegan = now
	known := l.known
	if !l.full {
		known = [classes]int64{}
	}
	gens, full, floor, dry := l.holds.gens, l.full, l.floor.clone(), l.dry
	l.desk.reading = true
	l.beginWork(l.work, kindRead, statement, func(ctx context.Context) func() {
		var a answer
		err := sqlkit.OnConn(ctx, l.r.db, func(c *sql.Conn) (err error) {
			if !full || floor.at < slices.Max(seen[:]) {
				news, err := floor.rise(ctx, c, l.read)
				if err != nil || !news && dry {
					return err
				}
			}
			return steered(ctx, c, l.r.table.data, func() (err error) {
				a, err = l.read.read(ctx, c, mask, after, seen, count, bytes)
				return err
			})
		})
		return func() { l.readDone(a, err, floor, gens, known) }
	})
}

// readDone takes over what was read.
func (l *loop) readDone(a answer, err error, floor floor, gens [ranges]uint32, known [classes]int64) {
	now := time.Now()
	l.desk.reading = false
	defer clear(l.desk.gone)
	if err != nil {
		l.fails(kindRead, slog.LevelWarn, "rows cannot be read", err)
		l.readAt = now.Add(retryAfter(l.readFailed, 5*time.Second))
		l.readFailed++
		l.readMost = max(1, l.readMost/4) // it may have taken too long
		return
	}
	l.readFailed = 0
	l.works(kindRead)
	switch {
	case a.bytes >= maxReadBytes/2: // what does not fit was sent in vain
		l.readMost = max(1, len(a.rows)*3/4)
	case a.more:
		l.readMost = min(2*l.readMost, maxRead)
	}
	for i := range gens { // of ranges that are held as they were when the read began
		if gens[i] != l.holds.gens[i] {
			gens[i] = 0
		}
	}
	fresh, late := l.desk.take(a.rows, &gens, known)
	l.r.stats.read.Add(int64(fresh))
	if fresh > 0 {
		l.wokenAt = now
	}
	l.r.stats.late.Add(int64(late))
	l.dry = false
	if !l.restart {
		l.floor, l.dry = floor, !a.more && floor.waitFor == nil
		for c := range l.after {
			l.seen[c] = max(l.seen[c], a.last[c])
			l.after[c] = a.last[c]
			if !a.more {
				l.after[c] = l.seen[c]
			}
			l.after[c] = min(l.after[c], floor.at)
		}
	}
	switch {
	case a.more && len(a.rows) > 0:
		l.readAt = now
		return
	case l.readAt.After(l.readBegan): // woken meanwhile
		l.readAt = now
	default:
		l.readAt = now.Add(l.pollAfter(now))
	}
	l.full = false
}

// pollAfter is how long nothing is read after a read that has found all there is.
//
// With Wake most reads come when it says so. But a process notifies only now and then, and a
// transaction that has not may end later: so a relay that was woken, or has found something, goes on reading, at
// intervals that grow with the time since then. What commits a second later waits a quarter of a second.
func (l *loop) pollAfter(now time.Time) time.Duration {
	o := &l.r.opts
	if o.Wake == nil || l.floor.waitFor != nil { // somebody is writing
		return o.Poll
	}
	return min(max(now.Sub(l.wokenAt)/4, notifyEvery/2), o.IdlePoll)
}
