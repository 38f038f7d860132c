package batching

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

func TestNoRequestIsOverItsLimits(t *testing.T) {
	t.Run("count: a backlog goes in full batches", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 7}})
			r.Upload(sendertest.Hotels("k", 20)...)
			require.NoError(t, r.Flush())
			var sizes []int
			for _, x := range r.Requests() {
				sizes = append(sizes, len(x.Keys))
			}
			assert.Equal(t, []int{7, 7, 6}, sizes)
		})
	})
	t.Run("bytes: to the last one, envelope and commas included", func(t *testing.T) {
		// Two documents fit exactly: {"value":[A,B]} has one comma and one envelope.
		const envelope, alone = len(`{"value":[]}`), 100
		const exact = envelope + 2*(alone-envelope) + 1
		for limit, want := range map[int][]int{exact: {exact}, exact + 1: {exact}, exact - 1: {alone, alone}} {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchBytes: limit}})
				r.Upload(sendertest.HotelOfSize("a", alone), sendertest.HotelOfSize("b", alone))
				require.NoError(t, r.Flush())
				var sizes []int
				for _, x := range r.Requests() {
					sizes = append(sizes, x.Bytes)
				}
				assert.Equal(t, want, sizes, "limit of %d bytes", limit)
			})
		}
	})
	t.Run("documents of any size, retried ones among new ones", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { // the rig checks each request
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 9, MaxBatchBytes: 1000, MaxInFlight: 3, MaxBufferedActions: 40}})
			r.Faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Ratio: 0.2, Status: 409}, {Ratio: 0.05, Status: 503}}})
			rnd := rand.New(rand.NewPCG(4, 4))
			for i := range 500 {
				r.Upload(sendertest.HotelOfSize(fmt.Sprint("k", i), 80+rnd.IntN(900)))
			}
			r.Flush()
		})
	})
	t.Run("MaxInFlight requests at once", func(t *testing.T) {
		for given, want := range map[int]int{0: 1, 1: 1, 3: 3, 7: 7} {
			synctest.Test(t, func(t *testing.T) { // the rig checks the number
				r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 2, MaxInFlight: given}})
				r.Faults(searchtest.Fault{Delay: searchtest.Duration(time.Second)})
				r.Upload(sendertest.Hotels("k", 42)...)
				synctest.Wait()
				assert.Equal(t, want, r.Sender.Stats().InFlight)
				assert.Len(t, r.Requests(), want)
				require.NoError(t, r.Flush())
				assert.Equal(t, time.Duration((21+want-1)/want)*time.Second, r.Now())
			})
		}
	})
	t.Run("the events report the size that was sent", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, nil)
			r.Upload(sendertest.HotelOfSize("a", 500), sendertest.Hotel{ID: "b", Name: "<&> \u2028 \U0001F600"})
			require.NoError(t, r.Flush())
			assert.EqualValues(t, r.Requests()[0].Bytes, r.Events("batch")[0].Batch.Bytes)
			assert.EqualValues(t, r.Requests()[0].Bytes, r.Sender.Stats().BytesSent)
		})
	})
}

func TestADocumentThatCannotFitAloneIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchBytes: 300, MaxBatchActions: 1}})
		err := r.Sender.UploadDocuments(t.Context(), sendertest.HotelOfSize("fits", 300), sendertest.HotelOfSize("big", 301), sendertest.HotelOfSize("after", 100))
		sendertest.RequireAccepted(t, err, 1)
		require.ErrorIs(t, err, bufferedsender.ErrDocumentTooLarge)
		var large *bufferedsender.DocumentTooLargeError
		require.ErrorAs(t, err, &large)
		assert.Equal(t, bufferedsender.DocumentTooLargeError{Size: 301, Limit: 300}, *large)
		assert.ErrorContains(t, err, "301")
		assert.ErrorContains(t, err, "300")
		require.NoError(t, r.Close())
		assert.Equal(t, []string{"fits"}, r.Indexed())
		assert.Equal(t, 300, r.Requests()[0].Bytes)
	})
	t.Run("before any request", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchBytes: 300}})
			for _, action := range []sendertest.Action{models.UploadAction(sendertest.HotelOfSize("big", 400)), models.MergeAction(sendertest.HotelOfSize("big", 400)), models.MergeOrUploadAction(sendertest.HotelOfSize("big", 400))} {
				require.ErrorIs(t, r.Sender.TryIndexDocuments(action), bufferedsender.ErrDocumentTooLarge)
			}
			require.NoError(t, r.Sender.IndexDocuments(t.Context(), models.DeleteAction(sendertest.HotelOfSize("big", 400))), "a delete carries the key alone")
			require.NoError(t, r.Close())
			assert.Equal(t, []string{"delete"}, r.Requests()[0].Actions)
		})
	})
	t.Run("an action larger than the whole buffer does not wait forever", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchBytes: 1000, MaxBufferedBytes: 500}})
			err := r.Sender.UploadDocuments(sendertest.Within(t, time.Hour), sendertest.HotelOfSize("big", 900))
			require.ErrorIs(t, err, bufferedsender.ErrDocumentTooLarge)
			var large *bufferedsender.DocumentTooLargeError
			require.ErrorAs(t, err, &large)
			assert.Equal(t, 500, large.Limit)
		})
	})
}

// The rig checks the limits in every snapshot.
func TestTheBufferIsBounded(t *testing.T) {
	t.Run("in number: adding waits for room, first come, first served", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 5, MaxBufferedActions: 10}})
			r.Faults(searchtest.Fault{Delay: searchtest.Duration(10 * time.Second)})
			r.Upload(sendertest.Hotels("first", 10)...)
			var order []string
			for i, n := range []int{7, 1, 1, 8} { // the small ones must not overtake
				go func() {
					assert.NoError(t, r.Sender.UploadDocuments(sendertest.Within(t, time.Hour), sendertest.Hotels(fmt.Sprint("w", i), n)...))
				}()
				synctest.Wait()
				assert.Equal(t, i+1, r.Sender.Stats().BlockedProducers)
			}
			time.Sleep(time.Hour)
			for _, e := range r.Events("sent") {
				if prefix := strings.Split(e.Key, "-")[0]; len(order) == 0 || order[len(order)-1] != prefix {
					order = append(order, prefix)
				}
			}
			assert.Equal(t, []string{"first", "w0", "w1", "w2", "w3"}, order)
		})
	})
	t.Run("in bytes", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchBytes: 1000, MaxBufferedBytes: 2000, MaxInFlight: 2}})
			r.Faults(searchtest.Fault{Every: 3, Status: 503}, searchtest.Fault{Delay: searchtest.Duration(time.Second)})
			for i := range 100 {
				r.Upload(sendertest.HotelOfSize(fmt.Sprint("k", i), 100+9*i))
			}
			require.NoError(t, r.Flush())
			assert.Zero(t, r.Sender.Stats().PendingBytes)
		})
	})
	t.Run("room is given back when an action settles, not when it is sent", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 5, MaxBufferedActions: 5}})
			r.Faults(searchtest.Fault{ReplyDelay: searchtest.Duration(10 * time.Second), Documents: []searchtest.DocumentFault{{Keys: []string{"k-0"}, Nth: 1, Status: 409}}})
			r.Upload(sendertest.Hotels("k", 5)...)
			synctest.Wait()
			require.Len(t, r.Requests(), 1, "all five actions are in the request")
			require.ErrorIs(t, r.Sender.TryIndexDocuments(models.UploadAction(sendertest.Hotel{ID: "x"})), bufferedsender.ErrBufferFull)
			r.Upload(sendertest.Hotels("l", 4)...)
			assert.Equal(t, 10*time.Second, r.Now(), "four actions have settled and one waits for its retry")
			assert.Equal(t, 5, r.Sender.Stats().PendingActions)
			require.NoError(t, r.Flush())
		})
	})
	t.Run("a failure returns its room", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 5, MaxBufferedActions: 5}})
			r.Respond(sendertest.Always(404, sendertest.ErrorBody("no such index")))
			r.Upload(sendertest.Hotels("k", 50)...)
			assert.Zero(t, r.Now())
		})
	})
	t.Run("a full buffer is sent although no batch is full", func(t *testing.T) {
		for name, opts := range map[string]sendertest.Options{
			"count": {Limits: bufferedsender.Limits{MaxBufferedActions: 3}, AutoFlushInterval: -1},
			"bytes": {Limits: bufferedsender.Limits{MaxBatchBytes: 1000, MaxBufferedBytes: 1000}, AutoFlushInterval: -1},
		} {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, &opts)
				for i := range 10 {
					r.Upload(sendertest.HotelOfSize(fmt.Sprint("k", i), 700))
				}
				assert.Zero(t, r.Now(), "full in %s", name)
				require.NoError(t, r.Flush())
			})
		}
	})
	t.Run("the buffer is sent also if adding calls never wait", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBufferedActions: 3}, AutoFlushInterval: -1})
			for i := range 10 {
				for _, d := range sendertest.Hotels(fmt.Sprint("k", i), 3) {
					require.NoError(t, r.Sender.TryIndexDocuments(models.UploadAction(d)))
				}
				require.ErrorIs(t, r.Sender.TryIndexDocuments(models.UploadAction(sendertest.Hotel{ID: "x"})), bufferedsender.ErrBufferFull)
				synctest.Wait()
			}
			assert.Len(t, r.Indexed(), 30)
		})
	})
	t.Run("a call whose ctx ends makes way for the next", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchBytes: 1000, MaxBufferedBytes: 1000}, AutoFlushInterval: -1, RequestTimeout: -1})
			r.Faults(searchtest.Fault{Delay: searchtest.Duration(10 * time.Minute)})
			r.Upload(sendertest.HotelOfSize("k", 600))
			go func() {
				sendertest.RequireAccepted(t, r.Sender.UploadDocuments(sendertest.Within(t, time.Minute), sendertest.HotelOfSize("large", 900)), 0)
			}()
			synctest.Wait()
			r.Upload(sendertest.HotelOfSize("small", 300))
			assert.Equal(t, time.Minute, r.Now(), "the small action fits once the large one has settled")
			assert.Zero(t, r.Sender.Stats().BlockedProducers)
			require.NoError(t, r.Flush())
			assert.Equal(t, []string{"k", "small"}, r.Indexed())
		})
	})
	t.Run("TryIndexDocuments and senders without auto-flush get ErrBufferFull", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{DisableAutoFlush: true, Limits: bufferedsender.Limits{MaxBufferedActions: 5}})
			r.Upload(sendertest.Hotels("k", 4)...)
			err := r.Sender.TryIndexDocuments(models.UploadAction(sendertest.Hotel{ID: "a"}), models.UploadAction(sendertest.Hotel{ID: "b"}))
			sendertest.RequireAccepted(t, err, 1)
			require.ErrorIs(t, err, bufferedsender.ErrBufferFull)
			for name, add := range sendertest.AddingCalls(r, sendertest.Hotel{ID: "c"}) {
				err := add(t.Context())
				sendertest.RequireAccepted(t, err, 0)
				assert.ErrorIs(t, err, bufferedsender.ErrBufferFull, name)
			}
			assert.Zero(t, r.Now())
			assert.Empty(t, r.Requests(), "only Flush sends")
			require.NoError(t, r.Flush())
			require.NoError(t, r.Sender.TryIndexDocuments(models.UploadAction(sendertest.Hotel{ID: "c"})))
		})
	})
}

// The loop sleeps until a batch is full by number or by bytes. A single document must not wake it.

func TestFullInBytesIsSentAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		index := &sendertest.Indexer{}
		sender, err := bufferedsender.New(index, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchBytes: 10_000}, AutoFlushInterval: time.Hour})
		require.NoError(t, err)
		require.NoError(t, sender.UploadDocuments(t.Context(), sendertest.Hotel{ID: "small"}))
		synctest.Wait()
		assert.Zero(t, index.Requests(), "waits for a full batch")
		require.NoError(t, sender.UploadDocuments(t.Context(), sendertest.Hotel{ID: "large", Name: strings.Repeat("x", 9_930)}))
		synctest.Wait()
		assert.EqualValues(t, 1, index.Requests(), "the first action no longer fits next to the second")
		require.NoError(t, sender.Close(t.Context()))
	})
}

func TestFullInActionsIsSentAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		index := &sendertest.Indexer{}
		sender, err := bufferedsender.New(index, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 700}, AutoFlushInterval: time.Hour})
		require.NoError(t, err)
		for i := range 1400 {
			require.NoError(t, sender.UploadDocuments(t.Context(), sendertest.Hotel{ID: "k" + strconv.Itoa(i)}))
			if i%97 == 0 {
				synctest.Wait() // let the loop sleep from time to time
			}
		}
		synctest.Wait()
		assert.EqualValues(t, 2, index.Requests())
		assert.Zero(t, sender.Stats().PendingActions)
		require.NoError(t, sender.Close(t.Context()))
	})
}

func TestAFullBufferIsSentEvenIfItFillsNoBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		index := &sendertest.Indexer{}
		sender, err := bufferedsender.New(index, &sendertest.Options{
			Limits:            bufferedsender.Limits{MaxBatchActions: 1000, MaxBufferedActions: 10},
			AutoFlushInterval: -1,
		})
		require.NoError(t, err)
		for i := range 25 {
			require.NoError(t, sender.UploadDocuments(t.Context(), sendertest.Hotel{ID: "k" + strconv.Itoa(i)}), "a call waits for room, so room is made")
		}
		require.NoError(t, sender.Close(t.Context()))
	})
}
