package repair_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/memqueue"
	"github.com/go-azsearch/azsearch/bufferedsender/repair"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

func TestDeleteWhereDeletesWhatMatchesAndNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newDeleteRig(t, nil, nil)
		r.fill("ann", 1200)
		r.fill("ben", 300)
		var keys []string
		opts := r.all()
		opts.OnKey = func(key string) { keys = append(keys, key) }
		receipt, err := repair.DeleteWhere(t.Context(), r.of("ann"), r.sender.Raw(), opts)
		require.NoError(t, err)
		balanced(t, receipt)
		assert.EqualValues(t, 1200, receipt.Deleted)
		assert.EqualValues(t, 1500, receipt.Total)
		assert.Equal(t, 1, receipt.Rounds)
		assert.True(t, slices.IsSorted(keys))
		assert.Len(t, keys, 1200)
		assert.Equal(t, keys[:100], receipt.Keys)
		assert.Equal(t, digestOf(keys...), receipt.Digest)
		assert.Len(t, r.keys(), 300)
		assert.True(t, strings.HasPrefix(r.keys()[0], "ben"))
		assert.Equal(t, 4*time.Second, receipt.NoneLeftAt.Sub(receipt.Began), "a pause before the lookups, and one before the last scan")

		text, err := json.Marshal(receipt)
		require.NoError(t, err)
		var again repair.Receipt
		require.NoError(t, json.Unmarshal(text, &again))
		assert.Equal(t, receipt.Digest, again.Digest)
		assert.True(t, receipt.NoneLeftAt.Equal(again.NoneLeftAt))

		receipt, err = repair.DeleteWhere(t.Context(), r.of("ann"), r.sender.Raw(), opts)
		require.NoError(t, err)
		assert.Zero(t, receipt.Matched)
		assert.Equal(t, digestOf(), receipt.Digest)
		assert.False(t, receipt.NoneLeftAt.IsZero())
	})
}

func TestADocumentThatStopsMatchingBeforeItsDeleteStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newDeleteRig(t, nil, nil)
		r.fill("ann", 10)
		index := r.of("ann")
		index.beforeLookup = func([]string) { r.write(record{ID: "ann-0000003", Owner: "ben"}) }
		receipt, err := repair.DeleteWhere(t.Context(), index, r.sender.Raw(), r.all())
		require.NoError(t, err)
		balanced(t, receipt)
		assert.EqualValues(t, 9, receipt.Deleted)
		assert.EqualValues(t, 1, receipt.Changed)
		assert.Equal(t, []string{"ann-0000003"}, r.keys())
	})
}

// The index shows a write a second after its confirmation: a lookup right after the write would show a document that
// still matches.
func TestWhatTheSenderHasWrittenBeforeIsShownByTheIndexBeforeItIsDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newDeleteRig(t, &searchtest.Options{VisibilityLag: time.Second}, nil)
		r.fill("ann", 10)
		time.Sleep(time.Minute)
		index := r.of("ann")
		index.afterScan = func(n int) {
			if n == 1 {
				assert.NoError(t, r.sender.UploadDocuments(t.Context(), record{ID: "ann-0000003", Owner: "ben"}))
				assert.NoError(t, r.sender.Flush(t.Context(), nil))
				assert.NoError(t, r.sender.UploadDocuments(t.Context(), record{ID: "ann-0000004", Owner: "ben"})) // this write is in flight
			}
		}
		receipt, err := repair.DeleteWhere(t.Context(), index, r.sender.Raw(), r.all())
		require.NoError(t, err)
		assert.EqualValues(t, 2, receipt.Changed)
		assert.Equal(t, []string{"ann-0000003", "ann-0000004"}, r.keys())
	})
}

func TestWhatTheSenderAcceptsMeanwhileComesAfterTheDelete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newDeleteRig(t, nil, nil)
		r.fill("ann", 10)
		index := r.of("ann")
		index.lookedUp = func([]string) { // it matches, as far as known
			assert.NoError(t, r.sender.UploadDocuments(t.Context(), record{ID: "ann-0000003", Owner: "ben"}))
			time.Sleep(30 * time.Second)
		}
		receipt, err := repair.DeleteWhere(t.Context(), index, r.sender.Raw(), r.all())
		require.NoError(t, err)
		assert.EqualValues(t, 10, receipt.Deleted)
		require.NoError(t, r.sender.Flush(t.Context(), nil))
		assert.Equal(t, []string{"ann-0000003"}, r.keys())
	})
}

func TestNothingIsDeletedWhenMoreMatchThanTheShareAllows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newDeleteRig(t, nil, nil)
		r.fill("ann", 94)
		r.fill("ben", 6)
		everything, err := search.NewRows(r.client, nil) // the filter is missing by mistake
		require.NoError(t, err)
		receipt, err := repair.DeleteWhere(t.Context(), everything, r.sender.Raw(), &repair.DeleteOptions{Total: r.total})
		require.ErrorAs(t, err, new(*repair.DeletesError))
		require.ErrorContains(t, err, "100 of 100 documents would be deleted and 0 overwritten, limit of each is 5 in 24 h")
		balanced(t, receipt)
		assert.EqualValues(t, 100, receipt.Matched)
		_, err = repair.DeleteWhere(t.Context(), r.of("ben"), r.sender.Raw(), &repair.DeleteOptions{Total: r.total})
		require.ErrorAs(t, err, new(*repair.DeletesError))
		assert.Zero(t, r.deletes())

		receipt, err = repair.DeleteWhere(t.Context(), r.of("ben"), nil, &repair.DeleteOptions{Total: r.total, DryRun: true})
		require.NoError(t, err)
		assert.Contains(t, receipt.Refused, "6 of 100 documents would be deleted and 0 overwritten, limit of each is 5 in 24 h (used: 0 and 0); check the keys of a dry run, then set AllowDeletes to 6, or MaxShare to at least 0.06")
		receipt, err = repair.DeleteWhere(t.Context(), r.of("ben"), nil, &repair.DeleteOptions{Total: r.total, MaxShare: 0.06, DryRun: true})
		require.NoError(t, err)
		assert.Empty(t, receipt.Refused)

		_, err = repair.DeleteWhere(t.Context(), r.of("ben"), r.sender.Raw(), &repair.DeleteOptions{Total: r.total, MaxShare: 0.06})
		require.NoError(t, err)
		assert.Equal(t, 6, r.deletes())
	})
}

func TestOneDocumentMayAlwaysBeDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newDeleteRig(t, nil, nil)
		r.fill("ann", 1)
		_, err := repair.DeleteWhere(t.Context(), r.of("ann"), r.sender.Raw(), &repair.DeleteOptions{Total: r.total})
		require.NoError(t, err)
		assert.Empty(t, r.keys())
	})
}

func TestTheNumberOfTheDryRunLiftsTheBoundIfItIsExact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newDeleteRig(t, nil, nil)
		r.fill("ann", 50)
		dry, err := repair.DeleteWhere(t.Context(), r.of("ann"), nil, &repair.DeleteOptions{DryRun: true})
		require.NoError(t, err)
		assert.True(t, dry.DryRun)
		assert.EqualValues(t, 50, dry.Matched)
		assert.Equal(t, []string{"ann-0000000", "ann-0000001"}, dry.Keys[:2])
		assert.Zero(t, dry.Deleted)
		for _, wrong := range []int64{49, 51, 1000} {
			_, err = repair.DeleteWhere(t.Context(), r.of("ann"), r.sender.Raw(), &repair.DeleteOptions{AllowDeletes: wrong, Total: r.total, MaxShare: 1})
			require.ErrorAs(t, err, new(*repair.DeletesError))
		}
		assert.Zero(t, r.deletes())
		receipt, err := repair.DeleteWhere(t.Context(), r.of("ann"), r.sender.Raw(), &repair.DeleteOptions{AllowDeletes: dry.Matched})
		require.NoError(t, err)
		assert.EqualValues(t, 50, receipt.Deleted)
		assert.Equal(t, dry.Digest, receipt.Digest)
		_, err = repair.DeleteWhere(t.Context(), r.of("ann"), r.sender.Raw(), &repair.DeleteOptions{AllowDeletes: dry.Matched})
		require.NoError(t, err, "the delete is already done")
	})
}

// refusing makes the service refuse keys of these patterns.
func (r *deleteRig) refusing(patterns ...string) {
	r.service.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{
		Operation: searchtest.OpIndexDocuments, Documents: []searchtest.DocumentFault{{Keys: patterns, Status: 400, Message: "refused"}},
	}}})
}

func TestTheReceiptSaysWhichDeletesTheServiceHasRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newDeleteRig(t, nil, nil)
		r.fill("ann", 240)
		r.refusing("*[02468]")
		receipt, err := repair.DeleteWhere(t.Context(), r.of("ann"), r.sender.Raw(), r.all())
		var failed *bufferedsender.ActionError
		require.ErrorAs(t, err, &failed)
		assert.Equal(t, "ann-0000000", failed.Key)
		require.ErrorIs(t, err, repair.ErrMatchesLeft)
		balanced(t, receipt)
		assert.EqualValues(t, 120, receipt.Deleted)
		assert.EqualValues(t, 120, receipt.Failed)
		assert.EqualValues(t, 120, receipt.Left)
		assert.Zero(t, receipt.Unknown)
		assert.True(t, receipt.NoneLeftAt.IsZero())
		require.Len(t, receipt.Failures, 100)
		assert.Equal(t, "ann-0000002", receipt.Failures[1].Key)
		assert.Equal(t, 400, receipt.Failures[0].Status)
		assert.Equal(t, "document", receipt.Failures[0].Reason)
		assert.Contains(t, receipt.Failures[0].Message, "refused")
		assert.Len(t, r.keys(), 120)
	})
}

func TestARoundInWhichNothingIsDeletedIsTheLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newDeleteRig(t, nil, nil)
		r.fill("ann", 50)
		r.refusing("*7")
		opts := r.all()
		opts.UntilStable = 100
		receipt, err := repair.DeleteWhere(t.Context(), r.of("ann"), r.sender.Raw(), opts)
		require.ErrorIs(t, err, repair.ErrMatchesLeft)
		balanced(t, receipt)
		assert.Equal(t, 2, receipt.Rounds)
		assert.EqualValues(t, 10, receipt.Failed, "five in each of two rounds")
		assert.EqualValues(t, 55, receipt.Matched)
	})
}

// After twenty refusals in a row the sender suspends sending until the service applies a document. That document is
// among those not started yet.
func TestManyRefusalsInARowDoNotKeepTheOthersFromBeingDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newDeleteRig(t, nil, nil)
		r.fill("ann", 150)
		r.refusing("ann-00000[345]*")
		opts := r.all()
		opts.SetBatches(30, 0)
		receipt, err := repair.DeleteWhere(t.Context(), r.of("ann"), refusedFirst{r.sender.Raw()}, opts)
		require.ErrorIs(t, err, repair.ErrMatchesLeft)
		balanced(t, receipt)
		assert.EqualValues(t, 120, receipt.Deleted)
		assert.EqualValues(t, 30, receipt.Failed)
		assert.Less(t, receipt.Ended.Sub(receipt.Began), 5*time.Minute)
	})
}

// refusedFirst lets the refused batch start alone, and the others when the sender has suspended sending because of
// it.
type refusedFirst struct{ repair.Sender }

func (s refusedFirst) HoldKeys(ctx context.Context, keys []string, act func(ctx context.Context, add func(actions ...models.RawAction) error) error) error {
	for began := time.Now(); keys[0] != "ann-0000030" && s.Info().Held == nil && time.Since(began) < 10*time.Second; {
		time.Sleep(100 * time.Millisecond)
	}
	return s.Sender.HoldKeys(ctx, keys, act)
}

func TestWhenItsContextEndsTheReceiptSaysWhatWasDeleted(t *testing.T) {
	for _, after := range []time.Duration{0, time.Second, 3 * time.Second, 5300 * time.Millisecond, 8700 * time.Millisecond, 12 * time.Second} {
		t.Run(after.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newDeleteRig(t, nil, nil)
				r.fill("ann", 2000)
				r.service.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Operation: searchtest.OpIndexDocuments, Delay: searchtest.Duration(time.Second)}}})
				ctx, cancel := context.WithTimeout(t.Context(), after)
				defer cancel()
				opts := r.all()
				opts.SetBatches(100, 2)
				deleted := map[string]bool{}
				opts.OnKey = func(key string) { deleted[key] = true }
				began := time.Now()
				receipt, err := repair.DeleteWhere(ctx, r.of("ann"), r.sender.Raw(), opts)
				require.ErrorIs(t, err, context.DeadlineExceeded)
				assert.LessOrEqual(t, time.Since(began), after+5*time.Second)
				balanced(t, receipt)
				assert.True(t, receipt.NoneLeftAt.IsZero())
				assert.Zero(t, receipt.Unknown, "the requests under way were waited for")
				r.service.SetFaults(nil)
				time.Sleep(time.Hour)
				left := r.keys()
				assert.EqualValues(t, 2000-len(left), receipt.Deleted)
				for _, key := range left {
					assert.False(t, deleted[key])
				}
			})
		})
	}
}

// The request may be applied later or never, so the receipt counts its deletes separately.
func TestARequestThatTakesLongIsNotWaitedForWhenTheContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newDeleteRig(t, nil, nil)
		r.fill("ann", 2000)
		r.service.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{
			{Operation: searchtest.OpIndexDocuments, After: 2, Delay: searchtest.Duration(30 * time.Second)},
		}})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		opts := r.all()
		opts.SetBatches(100, 1)
		began := time.Now()
		receipt, err := repair.DeleteWhere(ctx, r.of("ann"), r.sender.Raw(), opts)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, 15*time.Second, time.Since(began))
		balanced(t, receipt)
		assert.EqualValues(t, 200, receipt.Deleted)
		assert.EqualValues(t, 100, receipt.Unknown)
		assert.EqualValues(t, 1800, receipt.Unsent)
		time.Sleep(time.Hour)
		assert.Len(t, r.keys(), 1700)
	})
}

func TestASenderThatDoesNotFlushByItselfDeletesAllTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newDeleteRig(t, nil, &bufferedsender.Options[record]{DisableAutoFlush: true})
		r.fill("ann", 1234)
		receipt, err := repair.DeleteWhere(t.Context(), r.of("ann"), r.sender.Raw(), r.all())
		require.NoError(t, err)
		assert.EqualValues(t, 1234, receipt.Deleted)
		assert.Equal(t, 4*time.Second, receipt.Ended.Sub(receipt.Began), "the call waits for no timer")
	})
}

func TestASenderWithAQueueIsRefusedBeforeAnythingIsDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, err := memqueue.New(nil)
		require.NoError(t, err)
		defer func() { assert.NoError(t, q.Close()) }()
		r := newDeleteRig(t, nil, &bufferedsender.Options[record]{Queue: q})
		r.fill("ann", 10)
		before := len(r.service.Requests())
		_, err = repair.DeleteWhere(t.Context(), r.of("ann"), r.sender.Raw(), r.all())
		require.ErrorContains(t, err, "the sender has a Queue")
		require.ErrorContains(t, err, "use a sender of the same index without one")
		assert.Len(t, r.service.Requests(), before)
		dry, err := repair.DeleteWhere(t.Context(), r.of("ann"), r.sender.Raw(), &repair.DeleteOptions{DryRun: true})
		require.NoError(t, err)
		assert.EqualValues(t, 10, dry.Matched)
		require.NoError(t, r.sender.Close(t.Context()))
	})
}

func TestEveryProblemOfADeletionIsNamedBeforeAnythingIsDone(t *testing.T) {
	_, err := repair.DeleteWhere(t.Context(), nil, nil, &repair.DeleteOptions{
		AllowDeletes: -1, MaxShare: 1.5, UntilStable: -1,
	})
	for _, problem := range []string{
		"there is no index", "there is no sender", "AllowDeletes is -1", "MaxShare is 1.5", "UntilStable is -1",
	} {
		require.ErrorContains(t, err, problem)
	}
	synctest.Test(t, func(t *testing.T) {
		r := newDeleteRig(t, nil, nil)
		_, err = repair.DeleteWhere(t.Context(), r.of("ann"), r.sender.Raw(), nil)
		require.ErrorContains(t, err, "neither Total nor AllowDeletes is set")
		require.NoError(t, r.sender.Close(t.Context()))
		_, err = repair.DeleteWhere(t.Context(), r.of("ann"), r.sender.Raw(), r.all())
		require.ErrorContains(t, err, "the sender is closed")
	})
}

var errNoIndex = errors.New("no index")

func TestADeletionThatCannotReadDeletesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newDeleteRig(t, nil, nil)
		r.fill("ann", 10)
		opts := r.all()
		opts.Total = func(context.Context) (int64, error) { return 0, errNoIndex }
		_, err := repair.DeleteWhere(t.Context(), r.of("ann"), r.sender.Raw(), opts)
		require.ErrorIs(t, err, errNoIndex)
		opts.Total = func(context.Context) (int64, error) { return -1, nil }
		_, err = repair.DeleteWhere(t.Context(), r.of("ann"), r.sender.Raw(), opts)
		require.ErrorContains(t, err, "the number of documents in the index is -1")

		index := r.of("ann")
		index.scanStumble = errNoIndex
		_, err = repair.DeleteWhere(t.Context(), index, r.sender.Raw(), r.all())
		require.ErrorIs(t, err, errNoIndex)
		require.ErrorContains(t, err, "nothing was deleted")

		index = r.of("ann")
		index.lookupFails = errNoIndex
		receipt, err := repair.DeleteWhere(t.Context(), index, r.sender.Raw(), r.all())
		require.ErrorIs(t, err, errNoIndex)
		assert.EqualValues(t, 10, receipt.Unsent)
		balanced(t, receipt)
		assert.Zero(t, r.deletes())
		require.NoError(t, r.sender.UploadDocuments(t.Context(), record{ID: "ann-0000001"}), "the keys are free")
		require.NoError(t, r.sender.Flush(t.Context(), nil))
	})
}

// After an error no new delete starts; those in the sender are awaited and counted.
func TestAfterAnErrorTheReceiptSaysWhatWasDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newDeleteRig(t, nil, nil)
		r.fill("ann", 1000)
		r.service.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Operation: searchtest.OpIndexDocuments, Delay: searchtest.Duration(30 * time.Second)}}})
		index := r.of("ann")
		n := 0
		index.beforeLookup = func([]string) {
			if n++; n == 5 {
				index.lookupFails = errNoIndex
			}
		}
		opts := r.all()
		opts.SetBatches(50, 1)
		receipt, err := repair.DeleteWhere(t.Context(), index, r.sender.Raw(), opts)
		require.ErrorIs(t, err, errNoIndex)
		balanced(t, receipt)
		assert.EqualValues(t, 200, receipt.Deleted)
		assert.EqualValues(t, 800, receipt.Unsent)
		assert.Len(t, r.keys(), 800)
	})
}

func TestASenderThatIsClosedMeanwhileEndsTheDeletion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newDeleteRig(t, nil, nil)
		r.fill("ann", 100)
		index := r.of("ann")
		index.lookedUp = func([]string) { r.sender.Pause() }
		go func() {
			time.Sleep(time.Minute)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			assert.Error(t, r.sender.Close(ctx))
		}()
		receipt, err := repair.DeleteWhere(t.Context(), index, r.sender.Raw(), r.all())
		require.ErrorIs(t, err, bufferedsender.ErrClosed)
		balanced(t, receipt)
		assert.EqualValues(t, 100, receipt.Unsent)
		assert.Len(t, r.keys(), 100)
	})
}

func TestAnIndexInTheWrongOrderIsNotWorkedOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newDeleteRig(t, nil, nil)
		for _, keys := range [][]string{{"b", "a"}, {"a", "a"}, {""}} {
			_, err := repair.DeleteWhere(t.Context(), fixedIndex(keys), r.sender.Raw(), r.all())
			require.ErrorContains(t, err, "comes after", fmt.Sprint(keys))
		}
	})
}
