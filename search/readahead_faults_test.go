package search_test

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/tracing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/search"
)

// nth calls f before the n-th request.
func nth(n int32, s *shelf, f func()) transporter {
	var requests atomic.Int32
	return func(req *http.Request) (*http.Response, error) {
		if requests.Add(1) == n {
			f()
		}
		return s.Do(req)
	}
}

func TestScanThatReadsAheadEndsWithItsContext(t *testing.T) {
	for _, ahead := range []int{0, 16} {
		synctest.Test(t, func(t *testing.T) {
			s, _ := slowShelf(t, 1000)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			n, last := 0, error(nil)
			for _, last = range search.ScanKeys(ctx, newClient(t, s), &search.ScanOptions{KeyField: "hotelId", PageSize: 10, ReadAhead: ahead}) {
				if n++; n == 300 {
					time.Sleep(time.Second) // all requested pages have arrived
					cancel()
				}
			}
			require.ErrorIs(t, last, context.Canceled)
			assert.LessOrEqual(t, n, 311, "the rest of the page and an error")
		})
	}
}

// The caller can recover the panic, unlike a panic of another goroutine.
func TestPanicOfATransportIsThatOfTheScan(t *testing.T) {
	for _, ahead := range []int{0, 1, 3} {
		synctest.Test(t, func(t *testing.T) {
			s, _ := slowShelf(t, 100)
			client := newClient(t, nth(2, s, func() { panic("a bug") }))
			assert.PanicsWithValue(t, "a bug", func() {
				_, _ = scanKeys(t, client, &search.ScanOptions{KeyField: "hotelId", PageSize: 10, ReadAhead: ahead})
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		s, _ := slowShelf(t, 100)
		client := newClient(t, nth(2, s, func() { panic("a bug") }))
		for _, err := range search.ScanKeys(t.Context(), client, &search.ScanOptions{KeyField: "hotelId", PageSize: 10, ReadAhead: 3}) {
			require.NoError(t, err)
			synctest.Wait()
			break // so the page is not used
		}
	})
}

// For example FailNow of a test ends the goroutine of a transport.
func TestPageWhoseGoroutineEndsIsAskedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, want := slowShelf(t, 100)
		got, err := scanKeys(t, newClient(t, nth(2, s, runtime.Goexit)), &search.ScanOptions{KeyField: "hotelId", PageSize: 10, ReadAhead: 3})
		require.NoError(t, err)
		assert.Equal(t, want, got)
	})
}

// failures counts all ended spans and the failed ones.
type failures struct{ ended, calls, requests atomic.Int32 }

func (f *failures) provider() tracing.Provider {
	return tracing.NewProvider(func(module, version string) tracing.Tracer {
		return tracing.NewTracer(func(ctx context.Context, name string, _ *tracing.SpanOptions) (context.Context, tracing.Span) {
			return ctx, tracing.NewSpan(tracing.SpanImpl{
				End: func() { f.ended.Add(1) },
				SetStatus: func(status tracing.SpanStatus, _ string) {
					switch {
					case status != tracing.SpanStatusError:
					case name == "Client.Scan":
						f.calls.Add(1)
					default:
						f.requests.Add(1)
					}
				},
			})
		}, nil)
	}, nil)
}

func TestPagesThatAreNotNeededHaveNotFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, want := slowShelf(t, 205)
		var spans failures
		opts := options(s)
		opts.TracingProvider = spans.provider()
		client, err := search.NewClientWithKey(testEndpoint, "hotels", azcore.NewKeyCredential(testKey), opts)
		require.NoError(t, err)
		scan := &search.ScanOptions{KeyField: "hotelId", PageSize: 10, ReadAhead: 16}
		got, err := scanKeys(t, client, scan)
		require.NoError(t, err)
		assert.Equal(t, want, got)
		measured, reader := measuredClient(t, s)
		for _, c := range []*search.Client{client, measured} {
			n := 0
			for _, err := range search.ScanKeys(t.Context(), c, scan) {
				if require.NoError(t, err); n == 30 {
					break // three pages are used, others are in flight
				}
				n++
			}
		}
		assert.Positive(t, spans.ended.Load())
		assert.Zero(t, spans.calls.Load())
		assert.Zero(t, spans.requests.Load())
		for name := range measuredBy(t, reader) {
			assert.NotContains(t, name, "type=", "an error")
		}
	})
}

// The page's request itself succeeded.
func TestErrorInAPageThatWasReadAheadIsInASpan(t *testing.T) {
	var spans failures
	opts := options(replies(
		response(200, `{"value":[{"hotelId":"a"},{"hotelId":"b"}]}`),
		response(200, `{"value":[{"hotelId":"b"},{"hotelId":"B"}]}`)))
	opts.TracingProvider = spans.provider()
	client, err := search.NewClientWithKey(testEndpoint, "hotels", azcore.NewKeyCredential(testKey), opts)
	require.NoError(t, err)
	_, err = scanKeys(t, client, &search.ScanOptions{KeyField: "hotelId", PageSize: 2, ReadAhead: 1})
	require.ErrorContains(t, err, `the key "B" does not follow "b"`)
	assert.EqualValues(t, 1, spans.calls.Load())
}

// The service answers 503 above a number of concurrent requests; the client has the usual retries.
func TestScanThatReadsAheadSparesABusyService(t *testing.T) {
	for _, most := range []int32{1, 2, 4} {
		took := map[int]time.Duration{}
		for _, ahead := range []int{0, 1, 4, 16} {
			synctest.Test(t, func(t *testing.T) {
				s, want := slowShelf(t, testkit.Cases(500, 2000, 2000))
				var under, refused atomic.Int32
				busy := transporter(func(req *http.Request) (*http.Response, error) {
					defer under.Add(-1)
					if under.Add(1) > most {
						refused.Add(1)
						return response(503, ""), nil
					}
					return s.Do(req)
				})
				client, err := search.NewClientWithKey(testEndpoint, "hotels", azcore.NewKeyCredential(testKey), &search.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: busy}})
				require.NoError(t, err)
				began := time.Now()
				got, err := scanKeys(t, client, &search.ScanOptions{KeyField: "hotelId", PageSize: 10, ReadAhead: ahead})
				require.NoError(t, err)
				assert.Equal(t, want, got)
				took[ahead] = time.Since(began)
				t.Logf("%d at once, read ahead %d: %v, %d refused", most, ahead, took[ahead], refused.Load())
				assert.Less(t, refused.Load(), int32(50))
			})
			assert.LessOrEqual(t, took[ahead], took[0]*3/2, fmt.Sprint(most, " at once, read ahead ", ahead))
		}
	}
}

// Requests of pages that are read ahead are not captured.
func TestResponseIsCapturedOfOneRequestAtATime(t *testing.T) {
	s, _ := slowShelf(t, 1000)
	s.takes = 0
	var first atomic.Pointer[http.Response]
	w := transporter(func(req *http.Request) (*http.Response, error) {
		resp, err := s.Do(req)
		first.CompareAndSwap(nil, resp)
		return resp, err
	})
	var captured *http.Response
	ctx := policy.WithCaptureResponse(t.Context(), &captured)
	for _, err := range search.ScanKeys(ctx, newClient(t, w), &search.ScanOptions{KeyField: "hotelId", PageSize: 10, ReadAhead: 8}) {
		require.NoError(t, err)
		require.Same(t, first.Load(), captured)
	}
}
