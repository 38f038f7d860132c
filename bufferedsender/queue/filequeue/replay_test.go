package filequeue

import (
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/internal/book"
	"github.com/go-azsearch/azsearch/internal/disk/disktest"
	"github.com/go-azsearch/azsearch/internal/testkit"
)

// TestReplayIsTheLiveState makes random calls with tiny segments and then compares the live book with the book read
// from the files, key by key.
func TestReplayIsTheLiveState(t *testing.T) {
	for seed := range testkit.Cases(6, 30, 60) {
		synctest.Test(t, func(t *testing.T) { replayOnce(t, uint64(seed)) })
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func replayOnce(t *testing.T, seed uint64) {
	ctx := t.Context()
	r := seeded(seed)
	d := disktest.New()
	o, _ := (&Options{}).withDefaults()
	o.SegmentBytes = 3000 + r.IntN(6000)
	q, err := open(d, o)
	require.NoError(t, err)
	nkeys := 3 + r.IntN(12)
	key := func() string { return fmt.Sprint("key", r.IntN(nkeys)) }
	adders := []*adder{newAdder(q), newAdder(q), newAdder(q)}
	piles := map[string]queue.Pile{}
	var leases []queue.Lease
	var trace []string
	tr := func(f string, a ...any) {
		trace = append(trace, fmt.Sprintf("%v ", time.Now().UnixMilli()%1e7)+fmt.Sprintf(f, a...))
	}
	compacted := uint32(0)
	var live atomic.Bool
	live.Store(true)
	operations := 0
	hook := func(op, _ string) error {
		if live.Load() && (op == "remove" || op == "sync") {
			q.mu.Lock()
			defer q.mu.Unlock()
			if operations++; operations%5 > 0 || q.closed {
				return nil
			}
			compareReplayLocked(t, q, d, nkeys, nil) // the trace belongs to another goroutine
		}
		return nil
	}
	d.Fail = hook
	for step := range 400 {
		switch x := r.IntN(22); {
		case x < 6:
			a := adders[r.IntN(len(adders))]
			var recs []queue.Record
			for range 1 + r.IntN(5) {
				rec := upload(key(), step)
				switch r.IntN(4) {
				case 0, 1:
					rec = merge(key(), step)
				case 2:
					if r.IntN(3) == 0 {
						rec = queue.Record{Key: key()}
					}
				}
				rec.Class = uint8(r.IntN(3))
				if rec.Op != "" {
					rec.Body = append(rec.Body, strings.Repeat("x", r.IntN(300))...)
				}
				if r.IntN(4) == 0 {
					rec.Since = time.Now().Add(-time.Duration(r.IntN(1000)) * time.Minute)
				}
				recs = append(recs, rec)
			}
			call := queue.Call{Adder: a.id, Number: a.number + 1, Records: recs}
			// Folds the waiting records.
			for _, e := range func() []queue.Entry {
				es, err := q.Inspect(ctx, queue.Inspection{Bodies: true})
				require.NoError(t, err)
				return es
			}() {
				if n := len(e.Waiting); n > 2 && r.IntN(2) == 0 {
					c := 2 + r.IntN(n-1)
					f := queue.Fold{Key: e.Key, Count: c, Last: e.Waiting[c-1].Seq}
					for range 1 + r.IntN(c-1) {
						f.Records = append(f.Records, merge(e.Key, 1000+step))
					}
					call.Folds = append(call.Folds, f)
				}
			}
			rc, err := q.Append(ctx, call)
			require.NoError(t, err)
			a.number++
			for _, p := range rc.Piles {
				piles[p.Key] = p
			}
			tr("append %d %d", len(recs), len(call.Folds))
		case x < 11:
			w := want(1 + r.IntN(5))
			w.Holder = queue.ID{byte(1 + r.IntN(3))}
			w.Bytes = 100 + r.IntN(2000)
			w.For = time.Duration(1+r.IntN(60)) * time.Second
			w.Uncertain = time.Duration(r.IntN(20)) * time.Second
			if r.IntN(4) == 0 {
				w.Only = []string{key(), key(), key()}
			}
			l, err := q.Reserve(ctx, w)
			require.NoError(t, err)
			leases = append(leases, l...)
			tr("reserve %d", len(l))
		case x < 15:
			var ends []queue.End
			var rest []queue.Lease
			for _, l := range leases {
				if r.IntN(2) == 0 {
					rest = append(rest, l)
					continue
				}
				e := queue.End{Lease: l, Fate: queue.Commit}
				switch r.IntN(6) {
				case 0, 1:
					e.Fate = queue.Release
					e.Done = r.IntN(len(l.Records) + 1)
					e.After = time.Duration(r.IntN(3)) * 7 * time.Second
					e.Again = r.IntN(2) == 0
				case 2:
					e.Fate = queue.Park
					e.Reason = "because"
					e.Done = r.IntN(len(l.Records) + 1)
				}
				if r.IntN(5) == 0 {
					e.Uncertain = time.Duration(r.IntN(30)) * time.Second
				}
				ends = append(ends, e)
			}
			leases = rest
			_, _, err := q.Settle(ctx, ends...)
			require.NoError(t, err)
			tr("settle %d", len(ends))
		case x < 16:
			if len(leases) > 0 {
				_, err := q.Extend(ctx, time.Duration(1+r.IntN(90))*time.Second, leases[:1+r.IntN(len(leases))]...)
				require.NoError(t, err)
				tr("extend")
			}
		case x < 17:
			switch r.IntN(4) {
			case 0:
				_, err = q.Park(ctx, "people", key(), key())
			case 1:
				_, err = q.Unpark(ctx, key(), key(), key())
			case 2:
				_, err = q.Drop(ctx, key())
			case 3:
				if r.IntN(2) == 0 {
					err = q.Pause(ctx, "why")
				} else {
					err = q.Resume(ctx)
				}
			}
			require.NoError(t, err)
			tr("people")
		case x < 18:
			_ = q.Resume(ctx)
			_, err := q.Settled(ctx, q.book.Position())
			require.NoError(t, err)
			tr("settled")
		default:
			time.Sleep(time.Duration(r.IntN(15000)) * time.Millisecond)
			time.Sleep(time.Duration(r.IntN(1000)) * time.Microsecond)
		}
		synctest.Wait()
		compacted = max(compacted, q.log.segments[0].number)
		if r.IntN(8) == 0 {
			compareReplay(t, q, d, nkeys, trace)
			if t.Failed() {
				return
			}
		}
		if r.IntN(60) == 0 {
			live.Store(false)
			if r.IntN(2) == 0 {
				require.NoError(t, q.Close())
			} else {
				synctest.Wait()
			}
			d.Crash(everything)
			q, err = open(d, o)
			require.NoError(t, err)
			for _, a := range adders {
				a.q = q
			}
			live.Store(true)
			d.Fail = hook
			tr("reopen")
		}
	}
	live.Store(false)
	_ = compacted
	require.NoError(t, q.Close())
}

func compareReplay(t *testing.T, q *Queue, d *disktest.Disk, nkeys int, trace []string) {
	_, err := q.Stats(t.Context()) // logs expired leases
	require.NoError(t, err)
	synctest.Wait()
	q.mu.Lock()
	defer q.mu.Unlock()
	compareReplayLocked(t, q, d, nkeys, trace)
}

func compareReplayLocked(t *testing.T, q *Queue, d *disktest.Disk, nkeys int, trace []string) {
	e := disktest.New()
	for name, content := range d.Files() {
		e.Put(name, content)
	}
	rec := recovery{dir: e, options: &q.options}
	if err := rec.run(); err != nil {
		t.Error(err)
		return
	}
	now := q.clock.now()
	for i := range nkeys {
		key := fmt.Sprint("key", i)
		a, ok := q.book.State(now, key)
		b, bk := rec.book.State(now, key)
		norm := func(s *book.State[ref]) {
			for _, p := range []*[]book.Rec[ref]{&s.Waiting, &s.Leased, &s.Parked} {
				if len(*p) == 0 {
					*p = nil
				}
			}
			if len(s.Waiting) == 0 {
				s.Place, s.Gen = 0, 0
			}
			if len(s.Leased) == 0 {
				s.LeasedPlace, s.LeasedGen = 0, 0
			}
			if len(s.Parked) == 0 {
				s.ParkedPlace = 0
			}
			s.Due, s.Quiet = s.Due/2, s.Quiet/2
		}
		norm(&a)
		norm(&b)
		if b.Gen <= a.Gen && b.LeasedGen <= a.LeasedGen {
			b.Gen, b.LeasedGen = a.Gen, a.LeasedGen
		}
		if !ok && len(b.Waiting)+len(b.Leased)+len(b.Parked) == 0 || !bk && len(a.Waiting)+len(a.Leased)+len(a.Parked) == 0 {
			continue
		}
		if ok != bk || !reflect.DeepEqual(a, b) {
			t.Errorf("%s live %v %+v\nread %v %+v\n%s", key, ok, a, bk, b, strings.Join(trace[max(0, len(trace)-40):], "\n"))
			return
		}
	}
	if ga, gb := q.book.Globals(), rec.book.Globals(); ga != gb {
		t.Errorf("globals %+v %+v", ga, gb)
	}
	ka, _, ba := q.book.Size()
	kb, _, bb := rec.book.Size()
	if ka != kb || ba != bb {
		t.Errorf("size %d %d, %d %d", ka, ba, kb, bb)
	}
	if !reflect.DeepEqual(q.adders, rec.adders) {
		n := 0
		q.adders.Each(func(id queue.ID, num uint64, at time.Time, rc queue.Receipt) {
			rec.adders.Each(func(id2 queue.ID, num2 uint64, at2 time.Time, rc2 queue.Receipt) {
				if id == id2 && num == num2 && at.Equal(at2) && reflect.DeepEqual(rc, rc2) {
					n++
				} else if id == id2 {
					t.Errorf("receipt %+v %+v", rc, rc2)
				}
			})
		})
	}
}
