package bufferedsender_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search/searchtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sized returns a document whose request, with it alone, has size bytes.
func sized(key string, size int) hotel {
	empty := len(`{"value":[{"@search.action":"upload","id":"","name":""}]}`)
	return hotel{ID: key, Name: strings.Repeat("x", size-empty-len(key))}
}

func TestG4NoRequestIsOverItsLimits(t *testing.T) {
	t.Run("count: a backlog goes in full batches", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 7}})
			r.upload(hotels("k", 20)...)
			require.NoError(t, r.flush())
			var sizes []int
			for _, x := range r.requests() {
				sizes = append(sizes, len(x.keys))
			}
			assert.Equal(t, []int{7, 7, 6}, sizes)
		})
	})
	t.Run("bytes: to the last one, envelope and commas included", func(t *testing.T) {
		// Two documents fit exactly: {"value":[A,B]} has one comma, and the
		// envelope is counted once.
		const envelope, alone = len(`{"value":[]}`), 100
		const exact = envelope + 2*(alone-envelope) + 1
		for limit, want := range map[int][]int{exact: {exact}, exact + 1: {exact}, exact - 1: {alone, alone}} {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchBytes: limit}})
				r.upload(sized("a", alone), sized("b", alone))
				require.NoError(t, r.flush())
				var sizes []int
				for _, x := range r.requests() {
					sizes = append(sizes, x.bytes)
				}
				assert.Equal(t, want, sizes, "limit of %d bytes", limit)
			})
		}
	})
	t.Run("documents of any size, retried ones among new ones", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { // the rig checks each request
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 9, MaxBatchBytes: 1000, MaxInFlight: 3, MaxBufferedActions: 40}})
			r.faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Ratio: 0.2, Status: 409}, {Ratio: 0.05, Status: 503}}})
			rnd := rand.New(rand.NewPCG(4, 4))
			for i := range 500 {
				r.upload(sized(fmt.Sprint("k", i), 80+rnd.IntN(900)))
			}
			r.flush()
		})
	})
	t.Run("as many requests at once as MaxInFlight says", func(t *testing.T) {
		for given, want := range map[int]int{0: 1, 1: 1, 3: 3, 7: 7} {
			synctest.Test(t, func(t *testing.T) { // the rig checks that there are no more
				r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 2, MaxInFlight: given}})
				r.faults(searchtest.Fault{Delay: searchtest.Duration(time.Second)})
				r.upload(hotels("k", 42)...)
				synctest.Wait()
				assert.Equal(t, want, r.sender.Stats().InFlight)
				assert.Len(t, r.requests(), want)
				require.NoError(t, r.flush())
				assert.Equal(t, time.Duration((21+want-1)/want)*time.Second, r.now())
			})
		}
	})
	t.Run("the events report the size that was sent", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil)
			r.upload(sized("a", 500), hotel{ID: "b", Name: "<&> \u2028 \U0001F600"})
			require.NoError(t, r.flush())
			assert.EqualValues(t, r.requests()[0].bytes, r.seen("batch")[0].batch.Bytes)
			assert.EqualValues(t, r.requests()[0].bytes, r.sender.Stats().BytesSent)
		})
	})
}

func TestG4DocumentThatCannotFitAloneIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchBytes: 300, MaxBatchActions: 1}})
		err := r.sender.UploadDocuments(t.Context(), sized("fits", 300), sized("big", 301), sized("after", 100))
		refused(t, err, 1)
		require.ErrorIs(t, err, bufferedsender.ErrDocumentTooLarge)
		var large *bufferedsender.DocumentTooLargeError
		require.ErrorAs(t, err, &large)
		assert.Equal(t, bufferedsender.DocumentTooLargeError{Size: 301, Limit: 300}, *large)
		assert.ErrorContains(t, err, "301")
		assert.ErrorContains(t, err, "300")
		require.NoError(t, r.close())
		assert.Equal(t, []string{"fits"}, r.indexed())
		assert.Equal(t, 300, r.requests()[0].bytes)
	})
	t.Run("before any request", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchBytes: 300}})
			for _, action := range []hotelAction{models.UploadAction(sized("big", 400)), models.MergeAction(sized("big", 400)), models.MergeOrUploadAction(sized("big", 400))} {
				require.ErrorIs(t, r.sender.TryIndexDocuments(action), bufferedsender.ErrDocumentTooLarge)
			}
			require.NoError(t, r.sender.IndexDocuments(t.Context(), models.DeleteAction(sized("big", 400))), "a delete carries the key alone")
			require.NoError(t, r.close())
			assert.Equal(t, []string{"delete"}, r.requests()[0].actions)
		})
	})
	t.Run("and one that the whole buffer cannot hold does not wait for ever", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchBytes: 1000, MaxBufferedBytes: 500}})
			err := r.sender.UploadDocuments(within(t, time.Hour), sized("big", 900))
			require.ErrorIs(t, err, bufferedsender.ErrDocumentTooLarge)
			var large *bufferedsender.DocumentTooLargeError
			require.ErrorAs(t, err, &large)
			assert.Equal(t, 500, large.Limit)
		})
	})
}

// The rig checks in every snapshot that the marks are not exceeded.
func TestG5MemoryIsBounded(t *testing.T) {
	t.Run("in count: adding waits for room, first come, first served", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 5, MaxBufferedActions: 10}})
			r.faults(searchtest.Fault{Delay: searchtest.Duration(10 * time.Second)})
			r.upload(hotels("first", 10)...)
			var order []string
			for i, n := range []int{7, 1, 1, 8} { // the small ones must not overtake
				go func() {
					assert.NoError(t, r.sender.UploadDocuments(within(t, time.Hour), hotels(fmt.Sprint("w", i), n)...))
				}()
				synctest.Wait()
				assert.Equal(t, i+1, r.sender.Stats().BlockedAdders)
			}
			time.Sleep(time.Hour)
			for _, e := range r.seen("sent") {
				if prefix := strings.Split(e.key, "-")[0]; len(order) == 0 || order[len(order)-1] != prefix {
					order = append(order, prefix)
				}
			}
			assert.Equal(t, []string{"first", "w0", "w1", "w2", "w3"}, order)
		})
	})
	t.Run("in bytes", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchBytes: 1000, MaxBufferedBytes: 2000, MaxInFlight: 2}})
			r.faults(searchtest.Fault{Every: 3, Status: 503}, searchtest.Fault{Delay: searchtest.Duration(time.Second)})
			for i := range 100 {
				r.upload(sized(fmt.Sprint("k", i), 100+9*i))
			}
			require.NoError(t, r.flush())
			assert.Zero(t, r.sender.Stats().PendingBytes)
		})
	})
	t.Run("room is given back when an action settles, not when it is sent", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 5, MaxBufferedActions: 5}})
			r.faults(searchtest.Fault{ReplyDelay: searchtest.Duration(10 * time.Second), Documents: []searchtest.DocumentFault{{Keys: []string{"k-0"}, Nth: 1, Status: 409}}})
			r.upload(hotels("k", 5)...)
			synctest.Wait()
			require.Len(t, r.requests(), 1, "all five are on their way")
			require.ErrorIs(t, r.sender.TryIndexDocuments(models.UploadAction(hotel{ID: "x"})), bufferedsender.ErrBufferFull)
			r.upload(hotels("l", 4)...)
			assert.Equal(t, 10*time.Second, r.now(), "four have settled and one waits to be sent again")
			assert.Equal(t, 5, r.sender.PendingActionCount())
			require.NoError(t, r.flush())
		})
	})
	t.Run("a failure gives its room back", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 5, MaxBufferedActions: 5}})
			r.respond(always(404, refusal("no such index")))
			r.upload(hotels("k", 50)...)
			assert.Zero(t, r.now())
		})
	})
	t.Run("a full buffer is sent although no batch is full", func(t *testing.T) {
		for name, opts := range map[string]hotelOptions{
			"count": {Limits: bufferedsender.Limits{MaxBufferedActions: 3}, AutoFlushInterval: -1},
			"bytes": {Limits: bufferedsender.Limits{MaxBatchBytes: 1000, MaxBufferedBytes: 1000}, AutoFlushInterval: -1},
		} {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, &opts)
				for i := range 10 {
					r.upload(sized(fmt.Sprint("k", i), 700))
				}
				assert.Zero(t, r.now(), "full in %s", name)
				require.NoError(t, r.flush())
			})
		}
	})
	t.Run("also if those who add never wait", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBufferedActions: 3}, AutoFlushInterval: -1})
			for i := range 10 {
				for _, d := range hotels(fmt.Sprint("k", i), 3) {
					require.NoError(t, r.sender.TryIndexDocuments(models.UploadAction(d)))
				}
				require.ErrorIs(t, r.sender.TryIndexDocuments(models.UploadAction(hotel{ID: "x"})), bufferedsender.ErrBufferFull)
				synctest.Wait()
			}
			assert.Len(t, r.indexed(), 30)
		})
	})
	t.Run("one whose ctx ends makes way for the next", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchBytes: 1000, MaxBufferedBytes: 1000}, AutoFlushInterval: -1, RequestTimeout: -1})
			r.faults(searchtest.Fault{Delay: searchtest.Duration(10 * time.Minute)})
			r.upload(sized("k", 600))
			go func() {
				refused(t, r.sender.UploadDocuments(within(t, time.Minute), sized("large", 900)), 0)
			}()
			synctest.Wait()
			r.upload(sized("small", 300))
			assert.Equal(t, time.Minute, r.now(), "the small one fits as soon as the large one has gone")
			assert.Zero(t, r.sender.Stats().BlockedAdders)
			require.NoError(t, r.flush())
			assert.Equal(t, []string{"k", "small"}, r.indexed())
		})
	})
	t.Run("TryIndexDocuments and senders without auto-flush get ErrBufferFull", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{DisableAutoFlush: true, Limits: bufferedsender.Limits{MaxBufferedActions: 5}})
			r.upload(hotels("k", 4)...)
			err := r.sender.TryIndexDocuments(models.UploadAction(hotel{ID: "a"}), models.UploadAction(hotel{ID: "b"}))
			refused(t, err, 1)
			require.ErrorIs(t, err, bufferedsender.ErrBufferFull)
			for name, add := range r.addingCalls(hotel{ID: "c"}) {
				err := add(t.Context())
				refused(t, err, 0)
				assert.ErrorIs(t, err, bufferedsender.ErrBufferFull, name)
			}
			assert.Zero(t, r.now())
			assert.Empty(t, r.requests(), "only Flush sends")
			require.NoError(t, r.flush())
			require.NoError(t, r.sender.TryIndexDocuments(models.UploadAction(hotel{ID: "c"})))
		})
	})
}
