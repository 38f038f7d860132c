package outcomes

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/deadletter"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/retry/breaker"
)

// Close and a purge write their dead letters piece by piece.

// disk is a slow deadletter.Sink that stores nothing.
type disk struct {
	letter time.Duration // duration per dead letter
	before func()        // called by Write

	mu      sync.Mutex
	written int
	pieces  []int // dead letters of each Write
}

func (d *disk) Write(_ context.Context, letters []deadletter.Letter) error {
	if d.before != nil {
		d.before()
	}
	time.Sleep(time.Duration(len(letters)) * d.letter)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.written += len(letters)
	d.pieces = append(d.pieces, len(letters))
	return nil
}

// all returns the number of written dead letters, and the maximum of one Write.
func (d *disk) all() (written, most int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.written, slices.Max(append(d.pieces, 0))
}

// held returns a sender that does not send and has n documents of a size.
func held(t *testing.T, opts sendertest.Options, n, size int) *bufferedsender.BufferedSender[sendertest.Hotel] {
	t.Helper()
	opts.Logger = sendertest.NoLog
	s, err := bufferedsender.New[sendertest.Hotel](&sendertest.Indexer{}, &opts)
	require.NoError(t, err)
	sendertest.CloseAtEnd(t, s)
	s.Pause()
	for i := range n {
		require.NoError(t, s.UploadDocuments(t.Context(), sendertest.HotelOfSize(fmt.Sprint("k-", i), size)))
	}
	return s
}

// closeWithin calls Close with a deadline of one second.
func closeWithin(t *testing.T, s *bufferedsender.BufferedSender[sendertest.Hotel]) (err *bufferedsender.CloseError, took time.Duration) {
	t.Helper()
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	require.ErrorAs(t, s.Close(ctx), &err)
	return err, time.Since(began)
}

func TestCloseWaitsForASlowDiskThatMakesProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 5000
		d := &disk{letter: 1600 * time.Microsecond} // eight seconds in total
		s := held(t, sendertest.Options{DeadLetters: d}, n, 100)
		err, _ := closeWithin(t, s)
		assert.False(t, err.CallbackStuck)
		assert.Equal(t, n, err.Unsent)
		written, _ := d.all()
		assert.Equal(t, n, written, "all dead letters are written before Close returns")
		assert.EqualValues(t, n, s.Stats().DeadLetters)
	})
}

// Far longer than Close waits for callbacks.
func TestCloseWaitsForAllDeadLettersAsLongAsSomeAreWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 10_000
		d := &disk{letter: 25 * time.Millisecond}
		s := held(t, sendertest.Options{DeadLetters: d}, n, 100)
		err, took := closeWithin(t, s)
		t.Log("after", took)
		assert.False(t, err.CallbackStuck)
		written, _ := d.all()
		assert.Equal(t, n, written, "all dead letters are written before Close returns")
		assert.Equal(t, n, err.DeadLetters)
	})
}

// The disk of the sink blocks for half a minute.
func TestTheFirstPiecesAreWrittenWhenCloseCannotWaitForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 5000
		d := &disk{letter: 2 * time.Millisecond}
		d.before = func() {
			if written, _ := d.all(); written >= n/3 && written < n/2 {
				time.Sleep(30 * time.Second)
			}
		}
		s := held(t, sendertest.Options{DeadLetters: d}, n, 100)
		err, took := closeWithin(t, s)
		written, _ := d.all()
		t.Log("written:", written, "after", took)
		assert.True(t, err.CallbackStuck)
		assert.LessOrEqual(t, took, 15*time.Second)
		assert.Equal(t, written, err.DeadLetters, "the error counts the dead letters written so far")
		assert.GreaterOrEqual(t, written, n/4)
		assert.Less(t, written, n)
		assert.Equal(t, n, err.Unsent, "whether written or not")
		stats := s.Stats()
		assert.EqualValues(t, n, stats.Unsent)
		assert.EqualValues(t, written, stats.DeadLetters)
		time.Sleep(time.Hour)
		written, _ = d.all()
		assert.Equal(t, n, written, "the other dead letters are written later")
		assert.EqualValues(t, n, s.Stats().Unsent)
	})
}

func TestAPurgeIsWrittenPieceByPiece(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 2000
		d := &disk{letter: 4 * time.Millisecond}
		b := sendertest.SteadyBreaker(t, nil)
		s := held(t, sendertest.Options{
			DeadLetters: d, Outage: bufferedsender.Hold{Breaker: b, WhenFull: bufferedsender.PurgeAll(bufferedsender.AllowLoss)}, Limits: bufferedsender.Limits{MaxBufferedActions: n},
		}, n, 100)
		b.Disable()
		s.Resume()
		began := time.Now()
		require.NoError(t, s.UploadDocuments(sendertest.Within(t, time.Minute), sendertest.Hotel{ID: "new"}))
		assert.LessOrEqual(t, time.Since(began), 2*time.Second, "the first piece makes room")
		time.Sleep(time.Minute)
		written, most := d.all()
		assert.Equal(t, n, written)
		assert.LessOrEqual(t, most, 64)
		b.Enable()
		assert.True(t, errors.As(s.Close(t.Context()), new(*bufferedsender.CloseError)))
	})
}

// A piece has at most a mebibyte, or one document.
func TestPiecesOfLargeDocumentsAreSmall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n, size = 40, 200_000
		d := &disk{}
		s := held(t, sendertest.Options{DeadLetters: d}, n, size)
		_, _ = closeWithin(t, s)
		written, most := d.all()
		assert.Equal(t, n, written)
		assert.LessOrEqual(t, most, 1<<20/size+1)
	})
}

// Dead letters of all unsent documents at once would need another buffer, and more.
func TestGivingUpWithDeadLettersTakesLittleMoreThanTheBuffer(t *testing.T) {
	testkit.Long(t)
	const limit, size = 8 << 20, 2000
	purge := func(t *testing.T, s *bufferedsender.BufferedSender[sendertest.Hotel], b *breaker.Breaker) {
		b.Disable()
		s.Resume()
		require.NoError(t, s.UploadDocuments(sendertest.Within(t, time.Minute), sendertest.HotelOfSize("new", size)))
		synctest.Wait()
		b.Enable()
	}
	for name, give := range map[string]func(*testing.T, *bufferedsender.BufferedSender[sendertest.Hotel], *breaker.Breaker){
		"Close": func(t *testing.T, s *bufferedsender.BufferedSender[sendertest.Hotel], _ *breaker.Breaker) {
			_, _ = closeWithin(t, s)
		},
		"PurgeIndex": purge,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := sendertest.SteadyBreaker(t, nil)
				d := &disk{}
				empty := sendertest.HeapNow()
				s := held(t, sendertest.Options{
					DeadLetters: d, Outage: bufferedsender.Hold{Breaker: b, WhenFull: bufferedsender.PurgeAll(bufferedsender.AllowLoss)}, Limits: bufferedsender.Limits{MaxBufferedBytes: limit, MaxBatchBytes: limit / 4, MaxBufferedActions: limit / size},
				}, limit/size, size)
				full, peak := sendertest.HeapNow()-empty, int64(0)
				d.before = func() { peak = max(peak, sendertest.HeapNow()-empty) }
				give(t, s, b)
				t.Logf("full: %.1f MB, at most %.1f MB when it is given up", float64(full)/1e6, float64(peak)/1e6)
				written, _ := d.all()
				assert.Equal(t, limit/size, written)
				assert.Less(t, peak-full, int64(limit/2), "beyond the full buffer")
				runtime.KeepAlive(s)
			})
		})
	}
}
