package outbox

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
)

// Forty idle relays poll as seldom as one; each renews its own leases.
func TestManyIdleRelaysPollAsSeldomAsOne(t *testing.T) {
	testkit.Long(t)
	const queues, minutes = 40, 4
	inBubble(t, func(t *testing.T, db database) {
		notes, pool := statementsOf(t, db)
		to := newScripted()
		to.info.RequestTimeout = time.Minute
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, queues)
		var relays []*Relay
		for i := range queues {
			table := &Table{Dialect: SQLite, Queue: fmt.Sprint("q", i)}
			relay, err := NewRelay(pool.DB, table, to, &RelayOptions{Logger: quiet()})
			require.NoError(t, err)
			relays = append(relays, relay)
			go func() { ended <- relay.Run(ctx) }()
		}
		uploads(t, db, &Table{Dialect: SQLite, Queue: "q7"}, gadget{ID: "a"})
		passes(2 * time.Minute)
		require.Equal(t, []string{"a"}, to.keys())
		for _, r := range relays {
			require.NoError(t, r.Ready())
		}
		was, _ := notes.since(0)
		passes(minutes * time.Minute)
		n, setUp := notes.since(was)
		cancel()
		for range queues {
			require.NoError(t, <-ended)
		}
		const polls, renewals = 240, 20 // of a minute
		t.Logf("%d statements in %d minutes; without a hub %d", n-setUp, minutes, minutes*queues*(polls+renewals))
		assert.Less(t, n-setUp, minutes*(2*polls+queues*renewals)*5/4)
		hubs.Lock()
		defer hubs.Unlock()
		assert.Empty(t, hubs.all[hubKey{pool.DB, SQLite, new(Table).prefix()}])
	})
}

func TestACallServesAllThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shared[int]
		var calls atomic.Int64
		call := func(c *call[int]) error {
			time.Sleep(time.Second)
			c.result = int(calls.Add(1))
			return nil
		}
		var all sync.WaitGroup
		for range 40 {
			all.Go(func() {
				got, err := s.get(t.Context(), 0, time.Now(), call)
				assert.NoError(t, err)
				assert.Equal(t, 1, got.result)
			})
		}
		all.Wait()
		got, err := s.get(t.Context(), s.begun(), time.Time{}, call)
		require.NoError(t, err)
		require.Equal(t, 2, got.result, "a newer one was asked for")
	})
}

// One connection that hangs delays the others by two seconds, not until its own time-out.
func TestACallThatHangsIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shared[int]
		var calls atomic.Int64
		call := func(c *call[int]) error {
			if calls.Add(1) == 1 {
				<-c.ctx.Done()
				return c.ctx.Err()
			}
			c.result = 7
			return nil
		}
		began := time.Now()
		var all sync.WaitGroup
		all.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			_, err := s.get(ctx, 0, began, call)
			assert.ErrorIs(t, err, context.DeadlineExceeded)
		})
		synctest.Wait()
		for range 5 {
			all.Go(func() {
				got, err := s.get(t.Context(), 0, began, call)
				assert.NoError(t, err)
				assert.Equal(t, 7, got.result)
				assert.Equal(t, joins, time.Since(began))
			})
		}
		all.Wait()
		assert.LessOrEqual(t, calls.Load(), int64(6))
	})
}

// If polls take longer than a relay waits for another's, a poll still serves all that waited when it began.
func TestCallsThatAreAllSlowServeAllThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const takes = joins * 5 / 4
		var s shared[uint64]
		var calls atomic.Int64
		call := func(c *call[uint64]) error {
			calls.Add(1)
			time.Sleep(takes)
			c.result = c.n
			return nil
		}
		began := time.Now()
		var all sync.WaitGroup
		for range 40 {
			all.Go(func() {
				_, err := s.get(t.Context(), 0, began, call)
				assert.NoError(t, err)
				assert.LessOrEqual(t, time.Since(began), takes+joins)
			})
		}
		all.Wait()
		assert.EqualValues(t, 2, calls.Load())
		got, err := s.get(t.Context(), 0, time.Time{}, call)
		require.NoError(t, err)
		require.EqualValues(t, 2, got.result, "the newest result stays")
	})
}

// Of two calls that overlap the one with the lower number may have asked the database later.
func TestACallThatOverlapsAnEarlierOneIsNotNewer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shared[time.Time]
		ask := func(before, behind time.Duration) func(*call[time.Time]) error {
			return func(c *call[time.Time]) error {
				time.Sleep(before)
				c.result = time.Now()
				time.Sleep(behind)
				return nil
			}
		}
		var all sync.WaitGroup
		var first *call[time.Time]
		all.Go(func() {
			var err error
			first, err = s.get(t.Context(), 0, time.Time{}, ask(joins*3/2, 0))
			assert.NoError(t, err)
		})
		time.Sleep(joins)
		all.Go(func() {
			_, err := s.get(t.Context(), 1, time.Time{}, ask(0, joins))
			assert.NoError(t, err)
		})
		all.Wait()
		got, err := s.get(t.Context(), first.past, time.Time{}, ask(0, 0))
		require.NoError(t, err)
		require.False(t, got.result.Before(first.result), "numbers of the sequence do not fall")
	})
}

func TestAFailureIsOneOfAllThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shared[int]
		broken := errors.New("broken")
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				_, err := s.get(t.Context(), 0, time.Now(), func(*call[int]) error { time.Sleep(time.Second); return broken })
				assert.ErrorIs(t, err, broken)
			})
		}
		all.Wait()
		assert.EqualValues(t, 1, s.begun())
	})
}

// A process that is stopped between two statements leaves its transaction open, with the locks of its ranges.
func TestATransactionThatIsLeftOpenEnds(t *testing.T) {
	testkit.Long(t)
	db := newPostgres(t)
	c, err := db.Conn(t.Context())
	require.NoError(t, err)
	defer c.Close()
	err = steered(t.Context(), c, dialects[PostgreSQL], func() error {
		var limit string
		require.NoError(t, c.QueryRowContext(t.Context(), `SHOW idle_in_transaction_session_timeout`).Scan(&limit))
		require.Equal(t, "10s", limit)
		_, err := c.ExecContext(t.Context(), `SET LOCAL idle_in_transaction_session_timeout = '10ms'`)
		require.NoError(t, err)
		testkit.Eventually(t, func() bool { return c.PingContext(t.Context()) != nil })
		return nil
	})
	require.Error(t, err, "the server has closed the session")
}
