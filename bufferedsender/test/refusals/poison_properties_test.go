package refusals

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
)

func TestAnIndexThatLacksAPropertyOfAllDocumentsHoldsThem(t *testing.T) {
	for _, inFlight := range []int{1, 4} {
		t.Run(fmt.Sprint(inFlight), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const mendedAt = 10 * time.Minute
				n := testkit.Cases(4000, 20_000, 20_000)
				opts := sendertest.WithBreaker(t)
				opts.Limits.MaxInFlight = inFlight
				r := sendertest.New(t, opts)
				r.Respond(sendertest.LackingUntil(func() bool { return r.Now() >= mendedAt }))
				r.Upload(sendertest.Hotels("new", n)...)
				time.Sleep(time.Minute)
				assert.LessOrEqual(t, len(r.Requests()), 60)
				health := r.Sender.Health()
				assert.Equal(t, events.HealthStateCircuitOpen, health.State)
				assert.Contains(t, health.Reason, "'rooms'", "the service's message")
				failed := sendertest.FlushFailures(t, r.Sender.Flush(sendertest.Within(t, time.Hour), nil))
				assert.LessOrEqual(t, failed, 20)
				assert.EqualValues(t, n-failed, r.Sender.Stats().Completed)
				assert.LessOrEqual(t, r.Now(), mendedAt+35*time.Second)
				for _, e := range r.Events("failed") {
					assert.Equal(t, models.ReasonIndex, r.Failure(e.Key).Reason)
				}
				t.Log(len(r.Requests()), failed, r.Now())
			})
		})
	}
}

func TestAnIndexThatLacksAPropertyOfHalfOfTheDocumentsTakesTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const half, mendedAt = 5000, 10 * time.Minute
		r := sendertest.New(t, sendertest.WithBreaker(t))
		slow := sendertest.LackingUntil(func() bool { return r.Now() >= mendedAt })
		r.Respond(func(n int, x *sendertest.Request, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			time.Sleep(100 * time.Millisecond)
			return slow(n, x, req, next)
		})
		var docs []sendertest.Hotel
		with, without := sendertest.Hotels("new", half), sendertest.RoomlessHotels("old", half)
		for i := range half {
			docs = append(docs, with[i], without[i])
		}
		r.Upload(docs...)
		time.Sleep(time.Minute)
		batches := 2 * half / bufferedsender.DefaultMaxBatchActions
		assert.LessOrEqual(t, len(r.Requests()), 3*batches+20+10, "two more requests for each batch, twenty single refusals, and probes")
		s := r.Sender.Stats()
		assert.EqualValues(t, half, s.Completed, "the other documents are indexed")
		assert.EqualValues(t, 20, s.Failed)
		assert.Equal(t, half-20, s.HeldApart+s.InFlight)
		last := time.Duration(0)
		for _, e := range r.Events("completed") {
			last = max(last, e.At)
		}
		assert.LessOrEqual(t, last, time.Duration(3*batches+20)*100*time.Millisecond, "requests follow each other without a pause")
		assert.Equal(t, 20, sendertest.FlushFailures(t, r.Flush()))
		s = r.Sender.Stats()
		assert.EqualValues(t, 2*half-20, s.Completed)
		assert.Zero(t, s.HeldApart)
		assert.LessOrEqual(t, r.Now(), mendedAt+35*time.Second)
		for _, e := range r.Events("failed") {
			failure := r.Failure(e.Key)
			assert.Equal(t, models.ReasonIndex, failure.Reason)
			assert.True(t, failure.Rejected())
			assert.Contains(t, failure.Error(), "'rooms'")
			assert.True(t, strings.HasPrefix(e.Key, "new-"))
		}
	})
}

// A reason that concerns one document concerns the index if twenty documents have it.
func TestTwentyDocumentsRefusedForOneReasonHoldTheRest(t *testing.T) {
	for _, status := range []int{400, 429} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opts := sendertest.WithBreaker(t)
				opts.Limits.MaxBatchActions = 5
				r := sendertest.New(t, opts)
				mended := 10 * time.Minute
				r.Respond(func(n int, x *sendertest.Request, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
					if r.Now() >= mended {
						return next()
					}
					return sendertest.Results(func(rs []sendertest.WireResult) []sendertest.WireResult {
						for i := range rs {
							rs[i]["status"], rs[i]["statusCode"], rs[i]["errorMessage"] = false, status, "it does not fit"
						}
						return rs
					})(n, x, req, next)
				})
				r.Upload(sendertest.Hotels("k", 200)...)
				time.Sleep(time.Minute)
				assert.EqualValues(t, 20-5, r.Sender.Stats().Failed, "the reply with the twentieth refusal fails no further document")
				assert.Contains(t, []events.HealthState{events.HealthStateCircuitOpen, events.HealthStateHalfOpen}, r.Sender.Health().State, "half-open while a probe is under way")
				assert.Contains(t, r.Sender.Health().Reason, "it does not fit")
				failed := sendertest.FlushFailures(t, r.Flush())
				assert.LessOrEqual(t, failed, 20)
				assert.EqualValues(t, 200-failed, r.Sender.Stats().Completed)
			})
		})
	}
}

// Encoders may write spaces around the names of members.
func TestIndentedDocumentsAreHeldApartToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := sendertest.WithBreaker(t)
		opts.Documents.Encode = func(doc any) ([]byte, error) { // like the output of Jackson's pretty printer
			raw, err := json.MarshalIndent(doc, "", "  ")
			return []byte(strings.ReplaceAll(string(raw), `": `, `" : `)), err
		}
		opts.Documents.KeyField = "id"
		r := sendertest.New(t, opts)
		var count atomic.Int64
		inner := sendertest.LackingUntil(func() bool { return false })
		r.Respond(func(n int, x *sendertest.Request, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			count.Add(1)
			time.Sleep(100 * time.Millisecond)
			return inner(n, x, req, next)
		})
		var docs []sendertest.Hotel
		with, without := sendertest.Hotels("new", 500), sendertest.RoomlessHotels("old", 500)
		for i := range with {
			docs = append(docs, with[i], without[i])
		}
		r.Upload(docs...)
		producing, stop := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { // producers of the old version continue, ten documents per second
			for i := 0; r.Sender.UploadDocuments(producing, sendertest.Hotel{ID: fmt.Sprint("old-later-", i)}) == nil; i++ {
				time.Sleep(100 * time.Millisecond)
			}
		})
		defer func() { stop(); wg.Wait() }()
		time.Sleep(10 * time.Minute)
		before := count.Load()
		time.Sleep(10 * time.Minute)
		s := r.Sender.Stats()
		t.Log("requests in ten minutes:", before, "requests in the next ten minutes:", count.Load()-before, "stats", s.Completed, s.Failed, s.PendingActions, s.HeldApart, "health", r.Sender.Health().State)
		assert.Less(t, before, int64(3*120+100), "with refused keys set apart there are 188 requests")
		assert.Greater(t, s.Completed, int64(12_000), "documents of the other keys; with new refused keys set apart there are 12 498")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_ = r.Sender.Close(ctx)
	})
}

// Twenty documents, each with another property that the index lacks, have twenty different reasons.
func TestPropertiesThatDifferInDigitsAreDifferentReasons(t *testing.T) {
	for _, zero := range []rune{'0', 'a'} {
		t.Run(string(zero), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, sendertest.WithBreaker(t))
				r.Respond(func(_ int, x *sendertest.Request, req *http.Request, _ func() (*http.Response, error)) (*http.Response, error) {
					return sendertest.LackingProperty("meta_"+strings.Map(func(r rune) rune { return r - '0' + zero }, x.Keys[0][4:]))(0, x, req, nil)
				})
				for i := range 40 {
					r.Upload(sendertest.Hotel{ID: fmt.Sprint("bad-", i)})
				}
				go func() { _ = r.Flush() }()
				time.Sleep(time.Minute)
				s := r.Sender.Stats()
				t.Log("failed", s.Failed, r.Sender.Health().State)
				assert.EqualValues(t, 40, s.Failed)
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				_ = r.Sender.Close(ctx)
			})
		})
	}
}

// An index lacks two properties of every document, and gets one of them.
func TestTwoMissingPropertiesAreProbedNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, sendertest.WithBreaker(t))
		r.Respond(func(_ int, _ *sendertest.Request, req *http.Request, _ func() (*http.Response, error)) (*http.Response, error) {
			time.Sleep(10 * time.Millisecond)
			if r.Now() < 5*time.Minute {
				return sendertest.LackingProperty("rooms")(0, nil, req, nil)
			}
			return sendertest.LackingProperty("name")(0, nil, req, nil)
		})
		docs := sendertest.Hotels("new", 200)
		for i := range docs {
			docs[i].Name = "x"
		}
		r.Upload(docs...)
		time.Sleep(6 * time.Minute)
		before := len(r.Requests())
		time.Sleep(time.Minute)
		n := len(r.Requests()) - before
		s := r.Sender.Stats()
		t.Logf("%d requests in a minute, %+v", n, s)
		assert.LessOrEqual(t, n, 60, "requests in a minute while the index refuses everything")
		_ = r.Sender.Close(sendertest.Within(t, time.Millisecond))
	})
}

// Many properties are missing, in documents of many kinds.
func TestManyMissingPropertiesLoseNoMoreThanTwentyDocumentsEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const kinds, each = 18, 200
		index := &sendertest.Indexer{Index: func(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
			raw, _ := io.ReadAll(body)
			time.Sleep(time.Millisecond)
			for k := range kinds {
				if p := fmt.Sprintf("p%c", 'a'+k); strings.Contains(string(raw), `"`+p+`":`) {
					return models.IndexDocumentsResult{}, saying{400, "The request is invalid. Details: actions : 0: The property '" + p + "' does not exist on type 'search.documentFields'. Make sure to only use property names that are defined by the type."}
				}
			}
			_, _ = body.Seek(0, io.SeekStart)
			return sendertest.AcceptAll(ctx, body)
		}}
		opts := bufferedsender.Options[map[string]any]{Logger: sendertest.NoLog, Documents: bufferedsender.Documents[map[string]any]{KeyField: "id"}}
		s, err := bufferedsender.New(index, &opts)
		require.NoError(t, err)
		sendertest.CloseAtEnd(t, s)
		for i := range each {
			for k := range kinds {
				require.NoError(t, s.UploadDocuments(t.Context(), map[string]any{"id": fmt.Sprintf("%c-%d", 'a'+k, i), fmt.Sprintf("p%c", 'a'+k): 1},
					map[string]any{"id": fmt.Sprintf("ok-%c-%d", 'a'+k, i)}))
			}
		}
		time.Sleep(10 * time.Minute)
		st := s.Stats()
		t.Logf("failed %d, held %d, completed %d", st.Failed, st.HeldApart, st.Completed)
		assert.LessOrEqual(t, st.Failed, int64(kinds*20))
	})
}
