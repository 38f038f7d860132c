package drain

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/memqueue"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func newQueue(t *testing.T, opts *memqueue.Options) *memqueue.Queue {
	t.Helper()
	q, err := memqueue.New(opts)
	require.NoError(t, err)
	return q
}

// adder appends to a queue as one process does.
type adder struct {
	t      *testing.T
	q      queue.Queue
	id     queue.ID
	number uint64
}

func newAdder(t *testing.T, q queue.Queue) *adder { return &adder{t: t, q: q, id: queue.NewID()} }

// merges appends records that do not replace each other, given as "key=body".
func (a *adder) merges(records ...string) {
	a.t.Helper()
	a.number++
	call := queue.Call{Adder: a.id, Number: a.number}
	for _, r := range records {
		key, body, _ := strings.Cut(r, "=")
		call.Records = append(call.Records, queue.Record{Key: key, Op: models.ActionTypeMerge, Body: []byte(body)})
	}
	_, err := a.q.Append(a.t.Context(), call)
	require.NoError(a.t, err)
}

// waiting returns the waiting bodies of each key.
func waiting(t *testing.T, q Queue) map[string][]string {
	t.Helper()
	entries, err := q.Inspect(t.Context(), queue.Inspection{States: queue.Waiting, Bodies: true, Limit: 1e6})
	require.NoError(t, err)
	all := map[string][]string{}
	for _, e := range entries {
		for _, r := range e.Waiting {
			all[e.Key] = append(all[e.Key], string(r.Body))
		}
	}
	return all
}

func reserve(t *testing.T, q queue.Queue, d time.Duration, only ...string) []queue.Lease {
	t.Helper()
	leases, err := q.Reserve(t.Context(), queue.Want{Token: queue.NewID(), Holder: queue.NewID(), Name: "a sender", Keys: 10, Bytes: 1e6, For: d, Only: only})
	require.NoError(t, err)
	return leases
}

func TestEverythingIsMovedInTheOrderOfItsKey(t *testing.T) {
	from, to := newQueue(t, nil), newQueue(t, nil)
	newAdder(t, from).merges("a=1", "b=1", "a=2", "c=1", "b=2", "a=3")
	var told []Result
	// With two records at a time, piles are moved in pieces.
	done, err := Run(t.Context(), from, to, Options{Keys: 2, Bytes: 4, Progress: func(r Result) { told = append(told, r) }})
	require.NoError(t, err)
	assert.Equal(t, Result{Records: 6}, done)
	assert.Greater(t, len(told), 1)
	assert.Equal(t, map[string][]string{"a": {"1", "2", "3"}, "b": {"1", "2"}, "c": {"1"}}, waiting(t, to))
	assert.Empty(t, waiting(t, from))
}

func TestAgeAndClassAndKindOfRecordsAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from, to := newQueue(t, nil), newQueue(t, nil)
		since := time.Now().Add(-time.Hour)
		_, err := from.Append(t.Context(), queue.Call{Adder: queue.NewID(), Number: 1, Records: []queue.Record{
			{Key: "said", Op: models.ActionTypeUpload, Body: []byte("{}"), Since: since, Class: 3},
			{Key: "not said", Class: 2},
		}})
		require.NoError(t, err)
		appended := time.Now()
		time.Sleep(10 * time.Minute)
		_, err = Run(t.Context(), from, to, Options{})
		require.NoError(t, err)
		entries, err := to.Inspect(t.Context(), queue.Inspection{})
		require.NoError(t, err)
		require.Len(t, entries, 2)
		assert.Equal(t, "not said", entries[0].Key)
		assert.EqualValues(t, 2, entries[0].Class)
		assert.Empty(t, entries[0].Waiting[0].Op)
		assert.WithinDuration(t, appended, entries[0].Since, time.Millisecond)
		assert.EqualValues(t, 3, entries[1].Class)
		assert.Equal(t, models.ActionTypeUpload, entries[1].Waiting[0].Op)
		assert.WithinDuration(t, since, entries[1].Since, time.Millisecond)
	})
}

func TestParkedKeysStayWithWhatWaitsBehindThem(t *testing.T) {
	from, to := newQueue(t, nil), newQueue(t, nil)
	a := newAdder(t, from)
	a.merges("parked=1", "other=1")
	n, err := from.Park(t.Context(), "for a look", "parked")
	require.NoError(t, err)
	require.Equal(t, 1, n)
	a.merges("parked=2")
	done, err := Run(t.Context(), from, to, Options{})
	require.NoError(t, err)
	assert.Equal(t, Result{Records: 1, Left: 1}, done)
	assert.Equal(t, map[string][]string{"other": {"1"}}, waiting(t, to))
	assert.Equal(t, map[string][]string{"parked": {"2"}}, waiting(t, from))
}

func TestKeysThatAreNotDueAreMovedAndThoseThatOthersHoldAreWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from, to := newQueue(t, nil), newQueue(t, nil)
		newAdder(t, from).merges("delayed=1", "held=1")
		leases := reserve(t, from, time.Minute, "delayed")
		_, _, err := from.Settle(t.Context(), queue.End{Lease: leases[0], Fate: queue.Release, After: time.Hour})
		require.NoError(t, err)
		reserve(t, from, time.Minute, "held")

		began := time.Now()
		done, err := Run(t.Context(), from, to, Options{})
		require.NoError(t, err)
		assert.Equal(t, Result{Records: 2}, done)
		assert.Equal(t, map[string][]string{"delayed": {"1"}, "held": {"1"}}, waiting(t, to))
		assert.InDelta(t, time.Minute, time.Since(began), float64(time.Second), "the call waits until the other lease has expired")
	})
}

func TestPausedQueueIsNotWaitedFor(t *testing.T) {
	from, to := newQueue(t, nil), newQueue(t, nil)
	newAdder(t, from).merges("a=1")
	require.NoError(t, from.Pause(t.Context(), "a reason"))
	_, err := Run(t.Context(), from, to, Options{})
	require.ErrorIs(t, err, ErrPaused)
	assert.ErrorContains(t, err, "a reason")
}

func TestQueueIsNotDrainedIntoItself(t *testing.T) {
	q := newQueue(t, nil)
	newAdder(t, q).merges("a=1", "a=2", "b=1")
	_, err := Run(t.Context(), q, q, Options{})
	require.ErrorIs(t, err, ErrSame)
	assert.Contains(t, waiting(t, q)["a"], "2", "no record is lost")
}

func TestQueueThatIsFullGivesBackWhatWasReserved(t *testing.T) {
	from, to := newQueue(t, nil), newQueue(t, &memqueue.Options{MaxKeys: 2})
	newAdder(t, from).merges("a=1", "b=1", "c=1")
	done, err := Run(t.Context(), from, to, Options{Keys: 1})
	require.ErrorIs(t, err, queue.ErrFull)
	assert.Equal(t, Result{Records: 2}, done)
	assert.Equal(t, map[string][]string{"c": {"1"}}, waiting(t, from))
	s, err := from.Stats(t.Context())
	require.NoError(t, err)
	assert.Zero(t, s.Leased)
}

// breaking is a queue whose calls can fail.
type breaking struct {
	*memqueue.Queue
	before, after func(call string) error // nil: calls succeed
}

func (b *breaking) around(call string, do func() error) error {
	if b.before != nil {
		if err := b.before(call); err != nil {
			return err
		}
	}
	if err := do(); err != nil {
		return err
	}
	if b.after != nil {
		return b.after(call)
	}
	return nil
}

func (b *breaking) Append(ctx context.Context, c queue.Call) (r queue.Receipt, err error) {
	err = b.around("Append", func() error { r, err = b.Queue.Append(ctx, c); return err })
	return r, err
}

func (b *breaking) Reserve(ctx context.Context, w queue.Want) (l []queue.Lease, err error) {
	err = b.around("Reserve", func() error { l, err = b.Queue.Reserve(ctx, w); return err })
	return l, err
}

func (b *breaking) Settle(ctx context.Context, ends ...queue.End) (stale, failed []queue.Lease, err error) {
	err = b.around("Settle", func() error { stale, failed, err = b.Queue.Settle(ctx, ends...); return err })
	return stale, failed, err
}

func TestAppendWhoseAnswerIsLostIsRepeatedUnderItsNumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from, to := newQueue(t, nil), &breaking{Queue: newQueue(t, nil)}
		newAdder(t, from).merges("a=1", "a=2")
		lost := 0
		to.after = func(string) error {
			if lost++; lost <= 3 {
				return fmt.Errorf("cut: %w", queue.ErrUnknown)
			}
			return nil
		}
		done, err := Run(t.Context(), from, to, Options{})
		require.NoError(t, err)
		assert.Equal(t, Result{Records: 2}, done)
		assert.Equal(t, map[string][]string{"a": {"1", "2"}}, waiting(t, to))
	})
}

// A process that was stopped for longer than its leases must not append its reserved records: another process may
// have moved newer ones.
func TestWhoeverHasLostItsKeysAppendsNothingAnyMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from, to := &breaking{Queue: newQueue(t, nil)}, newQueue(t, nil)
		newAdder(t, from).merges("a=old")
		from.after = func(call string) error {
			if call == "Reserve" {
				from.after = nil
				time.Sleep(2 * time.Minute) // stopped
				done, err := Run(t.Context(), from, to, Options{})
				require.NoError(t, err)
				require.Equal(t, Result{Records: 1}, done)
				newAdder(t, to).merges("a=new")
			}
			return nil
		}
		_, err := Run(t.Context(), from, to, Options{Lease: time.Minute})
		require.ErrorContains(t, err, "expired")
		assert.Equal(t, map[string][]string{"a": {"old", "new"}}, waiting(t, to))
	})
}

var errDied = errors.New("the process has died")

// The test kills a drain before or after each of its calls in turn, with everything that it holds, and runs it again.
func TestKilledAtAnyCallAndRunAgainLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		repeated := 0
		for die := 0; ; die++ {
			from, to := &breaking{Queue: newQueue(t, nil)}, &breaking{Queue: newQueue(t, nil)}
			random := rand.New(rand.NewPCG(1, uint64(die)))
			want, a := map[string][]string{}, newAdder(t, from)
			for i := range 40 {
				key, body := fmt.Sprint("key-", random.IntN(7)), fmt.Sprint(i)
				want[key] = append(want[key], body)
				a.merges(key + "=" + body)
			}
			calls, dead := 0, false
			dies := func(string) error {
				if calls++; calls > die {
					dead = true
				}
				if dead {
					return errDied // this call and all later ones, including Release
				}
				return nil
			}
			from.before, from.after, to.before, to.after = dies, dies, dies, dies
			opts := Options{Keys: 3, Bytes: 60}
			_, err := Run(t.Context(), from, to, opts)
			from.before, from.after, to.before, to.after = nil, nil, nil, nil
			if err == nil {
				require.Greater(t, die, 20, "the drain was killed at many calls")
				break
			}
			require.ErrorIs(t, err, errDied)
			_, err = Run(t.Context(), from, to, opts)
			require.NoError(t, err)
			got := waiting(t, to)
			require.Len(t, got, len(want))
			for key, bodies := range want {
				require.Subset(t, got[key], bodies, "died at call %d", die)
				repeated += len(got[key]) - len(bodies)
				require.Equal(t, bodies, lastRun(got[key], len(bodies)), "died at call %d: the last records are in order", die)
			}
			require.Empty(t, waiting(t, from))
		}
		assert.Positive(t, repeated, "some processes died between append and commit")
	})
}

// lastRun removes from a pile the records that were appended again later.
func lastRun(got []string, n int) []string {
	last := map[string]int{}
	for i, body := range got {
		last[body] = i
	}
	out := make([]string, 0, n)
	for i, body := range got {
		if last[body] == i {
			out = append(out, body)
		}
	}
	return out
}
