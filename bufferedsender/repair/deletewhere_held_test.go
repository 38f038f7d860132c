package repair_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/repair"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// While a sender is paused, or its breaker open, deletes are in no request. They must not be sent later, when no
// caller expects them.
func TestADeleteThatIsInNoRequestWhenTheContextEndsIsNeverSent(t *testing.T) {
	for name, raw := range map[string]func(*bufferedsender.RawSender) repair.Sender{
		"the sender withdraws the deletes": func(s *bufferedsender.RawSender) repair.Sender { return s },
		"a sender without Withdraw":        func(s *bufferedsender.RawSender) repair.Sender { return plainSender{s} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newDeleteRig(t, nil, nil)
				r.fill("ann", 10)
				index := r.of("ann")
				index.lookedUp = func([]string) { r.sender.Pause() }
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				receipt, err := repair.DeleteWhere(ctx, index, raw(r.sender.Raw()), r.all())
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.ErrorIs(t, err, bufferedsender.ErrPaused, "the error names the cause of the wait")
				assert.EqualValues(t, 10, receipt.Unsent)
				r.sender.Resume()
				time.Sleep(time.Hour)
				assert.Zero(t, r.deletes())
				assert.Len(t, r.keys(), 10)
			})
		})
	}
}

// plainSender has only the methods of repair.Sender.
type plainSender struct{ repair.Sender }

func TestNothingIsBegunWhileTheSenderIsHeldBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newDeleteRig(t, nil, nil)
		r.fill("ann", 1000)
		r.service.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Operation: searchtest.OpIndexDocuments, Status: 403}}})
		require.NoError(t, r.sender.UploadDocuments(t.Context(), record{ID: "ben"}))
		time.Sleep(time.Minute)
		require.Error(t, r.sender.Raw().Info().Held)
		index := r.of("ann")
		var lookups atomic.Int64
		index.beforeLookup = func([]string) { lookups.Add(1) }
		ended := make(chan error)
		go func() {
			_, err := repair.DeleteWhere(t.Context(), index, r.sender.Raw(), r.all())
			ended <- err
		}()
		time.Sleep(10 * time.Minute)
		assert.Zero(t, lookups.Load())
		assert.Equal(t, 1, r.sender.Raw().Info().Pending)
		r.service.SetFaults(nil)
		require.NoError(t, <-ended)
		assert.Equal(t, []string{"ben"}, r.keys())

		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		r.fill("ann", 1)
		r.sender.Pause()
		_, err := repair.DeleteWhere(ctx, r.of("ann"), r.sender.Raw(), r.all())
		require.ErrorIs(t, err, bufferedsender.ErrPaused)
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

// The sender is paused while keys are held, but their writers do not wait for that.
func TestKeysAreLetGoWhenTheSenderIsHeldBackMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newDeleteRig(t, nil, nil)
		r.fill("ann", 10)
		index := r.of("ann")
		var lookups atomic.Int64
		index.beforeLookup = func([]string) { lookups.Add(1) }
		go func() {
			time.Sleep(time.Second)
			r.sender.Pause()
			time.Sleep(time.Minute)
			assert.NoError(t, r.sender.Raw().HoldKeys(t.Context(), []string{"ann-0000001"}, func(context.Context, func(...models.RawAction) error) error { return nil }))
			assert.Zero(t, lookups.Load())
			r.sender.Resume()
		}()
		_, err := repair.DeleteWhere(t.Context(), index, r.sender.Raw(), r.all())
		require.NoError(t, err)
		assert.Empty(t, r.keys())
	})
}

// silent is an index whose lookups do not return before their context ends, and then without an error.
type silent struct{ repair.Index }

func (s silent) Lookup(ctx context.Context, _ []string) ([]models.Row, error) {
	<-ctx.Done()
	return nil, nil
}

// Writers wait for keys that a deletion holds, so it must not hold them forever.
func TestAnIndexThatDoesNotAnswerDoesNotKeepTheKeysOfADeletion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newDeleteRig(t, nil, nil)
		r.fill("ann", 10)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		began := time.Now()
		receipt, err := repair.DeleteWhere(ctx, silent{r.of("ann")}, r.sender.Raw(), r.all())
		require.ErrorContains(t, err, "reading 10 held keys took longer than 1m0s")
		assert.Less(t, time.Since(began), 5*time.Minute)
		assert.EqualValues(t, 10, receipt.Unsent)
		balanced(t, receipt)
	})
}
