package adding

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/deadletter"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/memqueue"
	"github.com/go-azsearch/azsearch/bufferedsender/tuning"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/retry/breaker"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// Only nil pointers to these types are used.
type (
	nilPolicy  struct{ tuning.Policy }
	nilTap     struct{ models.Tap }
	nilTracers struct{ trace.TracerProvider }
)

func TestNewRefusesWhatCannotWork(t *testing.T) {
	t.Run("a nil client", func(t *testing.T) {
		for name, indexer := range map[string]bufferedsender.Indexer{"nil": nil, "a nil *search.Client": (*search.Client)(nil)} {
			s, err := bufferedsender.New[sendertest.Hotel](indexer, nil)
			require.Error(t, err, name)
			assert.Nil(t, s)
		}
	})
	t.Run("the nil pointer of a constructor that has failed", func(t *testing.T) {
		_, err := bufferedsender.New(&sendertest.Indexer{}, &sendertest.Options{
			Queue: (*memqueue.Queue)(nil), Tap: (*nilTap)(nil), DeadLetters: (*deadletter.File)(nil), Outage: (*bufferedsender.FailSoon)(nil),
			Tuning: (*nilPolicy)(nil), MeterProvider: (*sdkmetric.MeterProvider)(nil), TracerProvider: (*nilTracers)(nil),
		})
		for _, want := range []string{
			"Queue is a nil *memqueue.Queue: check the error of its constructor", "Tap is a nil *adding.nilTap", "DeadLetters is a nil *deadletter.File",
			"Outage is a nil *bufferedsender.FailSoon", "Tuning is a nil *adding.nilPolicy", "MeterProvider is a nil *metric.MeterProvider",
			"TracerProvider is a nil *adding.nilTracers",
		} {
			assert.ErrorContains(t, err, want)
		}
	})
	t.Run("a nil client with a queue that no process would drain", func(t *testing.T) {
		q, err := memqueue.New(nil)
		require.NoError(t, err)
		_, err = bufferedsender.New((*search.Client)(nil), &sendertest.Options{Queue: q})
		require.ErrorContains(t, err, "indexer is a nil *search.Client")
		require.NoError(t, q.Close())
	})
	t.Run("every bad option at once, and nothing is started", func(t *testing.T) {
		_, err := bufferedsender.New(nil, &sendertest.Options{
			Limits: bufferedsender.Limits{MaxBatchActions: -1, MaxBatchBytes: -2, MaxBufferedActions: -3, MaxBufferedBytes: -4, MaxInFlight: -5},

			Retry: retry.Options{Jitter: 7},
		})
		require.Error(t, err)
		for _, option := range []string{"MaxBatchActions", "MaxBatchBytes", "MaxBufferedActions", "MaxBufferedBytes", "MaxInFlight", "Jitter"} {
			assert.ErrorContains(t, err, option)
		}
		assert.ErrorContains(t, err, "nil")
	})
	t.Run("more actions than the service accepts", func(t *testing.T) {
		_, err := bufferedsender.New(&sendertest.Indexer{}, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 32_001}})
		require.ErrorContains(t, err, "32000")
	})
	t.Run("a batch too small for any document", func(t *testing.T) {
		_, err := bufferedsender.New(&sendertest.Indexer{}, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchBytes: 5}})
		require.ErrorContains(t, err, "MaxBatchBytes")
	})
}

func TestADocumentThatCannotBeEncodedIsRefused(t *testing.T) {
	type scored struct {
		ID    string         `json:"id" search:"key"`
		Score float64        `json:"score"`
		Extra map[string]any `json:"extra,omitempty"`
	}
	synctest.Test(t, func(t *testing.T) {
		srv := searchtest.NewServer(nil)
		s, err := bufferedsender.New(sendertest.NewClient(t, srv), &bufferedsender.Options[*scored]{Limits: bufferedsender.Limits{MaxBatchBytes: 1000}})
		require.NoError(t, err)
		sendertest.CloseAtEnd(t, s)
		for field, bad := range map[string]scored{
			"score":      {ID: "1", Score: math.NaN()},
			"extra.deep": {ID: "1", Extra: map[string]any{"deep": float32(math.Inf(1))}},
			"extra.fn":   {ID: "1", Extra: map[string]any{"fn": func() {}}},
		} {
			err := s.UploadDocuments(t.Context(), &bad)
			sendertest.RequireAccepted(t, err, 0)
			var encode *models.EncodeError
			require.ErrorAs(t, err, &encode, field)
			assert.Equal(t, field, encode.Field)
		}
		require.ErrorIs(t, s.UploadDocuments(t.Context(), &scored{ID: "1", Extra: map[string]any{"x": strings.Repeat("x", 1000)}}), bufferedsender.ErrDocumentTooLarge)
		require.NoError(t, s.Close(t.Context()))
		assert.Empty(t, srv.Requests())
		assert.Zero(t, s.Stats().Accepted)
	})
	t.Run("an action of no type, and an unknown one", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, nil)
			for _, typ := range []models.ActionType{"", "upsert", "Upload"} {
				err := r.Sender.IndexDocuments(t.Context(), sendertest.Action{Type: typ, Document: sendertest.Hotel{ID: "1"}})
				sendertest.RequireAccepted(t, err, 0)
			}
			require.NoError(t, r.Close())
			assert.Empty(t, r.Requests())
		})
	})
	t.Run("an error in a sequence", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, nil)
			trouble := errors.New("row 3 is damaged")
			err := r.Sender.IndexSeq(t.Context(), func(yield func(sendertest.Action, error) bool) {
				for i := range 5 {
					var err error
					if i == 3 {
						err = trouble
					}
					if !yield(models.UploadAction(sendertest.Hotel{ID: fmt.Sprint(i)}), err) {
						return
					}
				}
				assert.Fail(t, "the sequence is stopped at the error")
			}, nil)
			sendertest.RequireAccepted(t, err, 3)
			require.ErrorIs(t, err, trouble)
			require.NoError(t, r.Close())
			assert.Equal(t, []string{"0", "1", "2"}, r.Indexed())
		})
	})
}

func TestIndexSeqLeavesOutWhatOnRejectedAllows(t *testing.T) {
	sequence := func(keys ...string) func(func(sendertest.Action, error) bool) {
		return func(yield func(sendertest.Action, error) bool) {
			for line, key := range keys {
				if !yield(models.UploadAction(sendertest.Hotel{ID: key}).WithTag(line+1), nil) {
					return
				}
			}
		}
	}
	var rejected []string
	note := func(err *bufferedsender.AddError) error {
		rejected = append(rejected, fmt.Sprint(err.Accepted, err.Key, err.Tag))
		return nil
	}
	t.Run("the other documents are accepted", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, nil)
			rejected = nil
			require.NoError(t, r.Sender.IndexSeq(t.Context(), sequence("not a key", "a", "nor this", "b"), &bufferedsender.IndexSeqOptions{OnRejected: note}))
			assert.Equal(t, []string{"0not a key1", "1nor this3"}, rejected)
			require.NoError(t, r.Close())
			assert.Equal(t, []string{"a", "b"}, r.Indexed())
		})
	})
	t.Run("until the function asks to stop", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, nil)
			enough := errors.New("too many")
			err := r.Sender.IndexSeq(t.Context(), sequence("a", "not a key", "b"), &bufferedsender.IndexSeqOptions{
				OnRejected: func(*bufferedsender.AddError) error { return enough },
			})
			sendertest.RequireAccepted(t, err, 1)
			require.ErrorContains(t, err, `document 1 (key "not a key", tag 2) was not accepted`)
			require.ErrorIs(t, err, enough)
			require.NoError(t, r.Close())
			assert.Equal(t, []string{"a"}, r.Indexed())
		})
	})
	t.Run("Skip is not called for errors unrelated to the document", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, nil)
			rejected = nil
			ctx, cancel := context.WithCancel(t.Context())
			err := r.Sender.IndexSeq(ctx, func(yield func(sendertest.Action, error) bool) {
				_ = yield(models.UploadAction(sendertest.Hotel{ID: "a"}), nil)
				cancel()
				_ = yield(models.UploadAction(sendertest.Hotel{ID: "b"}), nil)
			}, &bufferedsender.IndexSeqOptions{OnRejected: note})
			sendertest.RequireAccepted(t, err, 1)
			require.ErrorIs(t, err, context.Canceled)
			assert.Empty(t, rejected)
			require.NoError(t, r.Close())
		})
	})
}

func TestAWrongEndpointFailsWithWhatItAnswers(t *testing.T) {
	const attempts = 1 + 2
	quick := retry.Options{MaxRetries: 2, Delay: time.Millisecond}
	outcome := func(t *testing.T, client *search.Client, err error) (*bufferedsender.ActionError, bufferedsender.Stats) {
		t.Helper()
		require.NoError(t, err)
		var failed []*bufferedsender.ActionError
		s, err := bufferedsender.New(client, &sendertest.Options{Outage: bufferedsender.FailSoon{}, Retry: quick, Logger: sendertest.NoLog, Handlers: sendertest.Handlers{
			ActionFailed: func(_ context.Context, e *events.ActionFailed[sendertest.Hotel]) {
				var failure *bufferedsender.ActionError
				if assert.ErrorAs(t, e.Err, &failure) {
					failed = append(failed, failure)
				}
			},
		}})
		require.NoError(t, err)
		sendertest.CloseAtEnd(t, s)
		require.NoError(t, s.UploadDocuments(context.Background(), sendertest.Hotel{ID: "1"}))
		require.Equal(t, 1, sendertest.CloseError(t, s.Close(sendertest.Within(t, time.Minute))).Failed)
		require.Len(t, failed, 1)
		return failed[0], s.Stats()
	}
	dial := func(url, index, key string, transport *http.Client) (*search.Client, error) {
		return search.NewClientWithKey(url, index, azcore.NewKeyCredential(key), &search.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: transport}})
	}
	plain := searchtest.NewServer(nil)
	require.NoError(t, plain.CreateIndex(sendertest.HotelIndex))
	require.NoError(t, plain.Listen("127.0.0.1:0"))
	defer plain.Close()
	own := &http.Client{Transport: &http.Transport{}}
	defer own.CloseIdleConnections()
	t.Run("an address without a listener", func(t *testing.T) {
		gone := searchtest.NewServer(nil)
		require.NoError(t, gone.Listen("127.0.0.1:0"))
		url := gone.URL()
		require.NoError(t, gone.Close())
		client, err := dial(url, "hotels", searchtest.AdminKey, own)
		failure, s := outcome(t, client, err)
		assert.EqualValues(t, attempts, s.Requests)
		assert.ErrorContains(t, failure, "refused")
		assert.False(t, failure.Unknown, "the request has not left this machine")
	})
	t.Run("an address of another program", func(t *testing.T) {
		client, err := dial(plain.URL()+"/nowhere", "hotels", searchtest.AdminKey, own)
		if err != nil {
			return // this is already one clear error
		}
		failure, s := outcome(t, client, err)
		assert.LessOrEqual(t, s.Requests, int64(attempts))
		assert.NotEmpty(t, failure.Error())
	})
	t.Run("an untrusted certificate", func(t *testing.T) {
		secure := searchtest.NewServer(nil)
		require.NoError(t, secure.ListenTLS("127.0.0.1:0"))
		defer secure.Close()
		transport := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}}}
		defer transport.CloseIdleConnections()
		client, err := dial(secure.URL(), "hotels", searchtest.AdminKey, transport)
		failure, s := outcome(t, client, err)
		assert.LessOrEqual(t, s.Requests, int64(attempts))
		assert.ErrorContains(t, failure, "certificate")
		assert.Empty(t, secure.Requests())
	})
	t.Run("no index", func(t *testing.T) {
		client, err := dial(plain.URL(), "motels", searchtest.AdminKey, own)
		failure, s := outcome(t, client, err)
		assert.EqualValues(t, 1, s.Requests)
		assert.Equal(t, 404, failure.Status)
		assert.ErrorContains(t, failure, "motels")
		assert.ErrorIs(t, failure, search.ErrIndexNotFound)
	})
	for key, status := range map[string]int{"wrong": 403, searchtest.QueryKey: 403} {
		t.Run("with the key "+key, func(t *testing.T) {
			client, err := dial(plain.URL(), "hotels", key, own)
			failure, s := outcome(t, client, err)
			assert.EqualValues(t, 1, s.Requests)
			assert.Contains(t, []int{401, status}, failure.Status)
			assert.ErrorContains(t, failure, "key")
			assert.NotContains(t, failure.Error(), "searchtest-query-key")
			var refused *search.Error
			require.ErrorAs(t, failure, &refused)
			assert.NotEmpty(t, refused.Hint)
		})
	}
}

// newOf creates a sender for a type and returns the error. Each non-pointer type costs the compiler a separate
// sender; TestOnlyWhatIsAnObjectInJSONIsADocument next to New covers the kinds of documents.
func newOf[T any]() error {
	_, err := bufferedsender.New(&sendertest.Indexer{}, &bufferedsender.Options[T]{Documents: bufferedsender.Documents[T]{KeyField: "id"}, Logger: sendertest.NoLog})
	return err
}

func TestATypeThatIsNoJSONObjectIsRefusedByNew(t *testing.T) {
	assert.ErrorContains(t, newOf[*bool](), "are not JSON objects")
	for name, err := range map[string]error{
		"struct": newOf[sendertest.Hotel](), "pointer": newOf[*sendertest.Hotel](), "map": newOf[map[string]any](), "raw": newOf[json.RawMessage](),
		"patch": newOf[*models.Patch](), "document": newOf[models.Document](),
	} {
		assert.NoError(t, err, name)
	}
}

// turnedDown checks that New refuses the options before it calls anything.
func turnedDown(t *testing.T, opts *sendertest.Options, names ...string) {
	t.Helper()
	var service sendertest.Indexer
	s, err := bufferedsender.New(&service, opts)
	require.Error(t, err)
	assert.Nil(t, s)
	for _, name := range names {
		assert.ErrorContains(t, err, name)
	}
	assert.Zero(t, service.Requests())
}

func TestNewNamesEveryOptionThatCannotBeUsed(t *testing.T) {
	tooMany := math.MaxInt32
	tooMany++ // overflows to a negative number on 32 bits, which is refused too
	for name, c := range map[string]struct {
		opts  sendertest.Options
		names []string
	}{
		"purging the oldest without a repair":      {sendertest.Options{Outage: bufferedsender.Hold{WhenFull: bufferedsender.PurgeOldest(nil)}}, []string{"PurgeOldest", "AllowLoss"}},
		"purging all without a repair":             {sendertest.Options{Outage: bufferedsender.Hold{WhenFull: bufferedsender.PurgeAll(nil)}}, []string{"PurgeAll", "AllowLoss"}},
		"an unknown policy for merges":             {sendertest.Options{OnMergeMissing: 99}, []string{"OnMergeMissing is 99", "MergeMissingUpload"}},
		"too many requests in flight":              {sendertest.Options{Limits: bufferedsender.Limits{MaxInFlight: 1025}}, []string{"MaxInFlight is 1025", "1024"}},
		"a negative number of them":                {sendertest.Options{Limits: bufferedsender.Limits{MaxInFlight: -1}}, []string{"MaxInFlight is -1"}},
		"a buffer for more than can be counted":    {sendertest.Options{Limits: bufferedsender.Limits{MaxBufferedActions: tooMany}}, []string{"MaxBufferedActions"}},
		"a negative buffer":                        {sendertest.Options{Limits: bufferedsender.Limits{MaxBufferedActions: -1, MaxBufferedBytes: -1}}, []string{"MaxBufferedActions", "MaxBufferedBytes"}},
		"jitter that is not a share":               {sendertest.Options{Retry: retry.Options{Jitter: 2}}, []string{"Jitter"}},
		"all mistakes at once, each of them named": {sendertest.Options{Outage: bufferedsender.Hold{WhenFull: bufferedsender.PurgeAll(nil)}, OnMergeMissing: 99, Limits: bufferedsender.Limits{MaxInFlight: -1, MaxBatchActions: 1 << 20}, Retry: retry.Options{Jitter: 2}}, []string{"WhenFull", "OnMergeMissing", "MaxInFlight", "MaxBatchActions", "Jitter"}},
	} {
		t.Run(name, func(t *testing.T) { turnedDown(t, &c.opts, c.names...) })
	}
}

func TestOptionsThatAreNilAreTheDefault(t *testing.T) {
	var noBreaker *breaker.Breaker
	var noPolicy tuning.Policy
	s, err := bufferedsender.New(&sendertest.Indexer{}, &sendertest.Options{Outage: bufferedsender.Hold{Breaker: noBreaker}, Tuning: noPolicy})
	require.NoError(t, err)
	assert.NotNil(t, s.Breaker(), "nil is the default")
	require.NoError(t, s.UploadDocuments(t.Context(), sendertest.Hotel{ID: "k"}))
	require.NoError(t, s.Close(sendertest.Within(t, 10*time.Second)))
}

// Each option has its effect. In Yokozuna one option's name in the code differed from its name in the configuration.
func TestLimitsAreThoseOfTheOptions(t *testing.T) {
	s, err := bufferedsender.New[sendertest.Hotel](&sendertest.Indexer{}, nil)
	require.NoError(t, err)
	assert.Equal(t, bufferedsender.Limits{
		MinBatchActions: bufferedsender.DefaultMaxBatchActions, MaxBatchActions: bufferedsender.DefaultMaxBatchActions, MaxBatchBytes: search.DefaultMaxBatchBytes, MaxInFlight: 1,
		MaxBufferedActions: bufferedsender.DefaultMaxBufferedActions, MaxBufferedBytes: bufferedsender.DefaultMaxBufferedBytes,
	}, s.Control().Limits)
	require.NoError(t, s.Close(t.Context()))

	s, err = bufferedsender.New(&sendertest.Indexer{}, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 11, MaxBatchBytes: 2222, MaxInFlight: 3, MaxBufferedActions: 44, MaxBufferedBytes: 55_555}})
	require.NoError(t, err)
	assert.Equal(t, bufferedsender.Limits{MinBatchActions: 11, MaxBatchActions: 11, MaxBatchBytes: 2222, MaxInFlight: 3, MaxBufferedActions: 44, MaxBufferedBytes: 55_555}, s.Control().Limits)
	stats := s.Stats()
	assert.Equal(t, 11, stats.BatchActionsLimit)
	assert.Equal(t, 2222, stats.BatchBytesLimit)
	assert.Equal(t, 3, stats.InFlightLimit)
	assert.Zero(t, stats.RequestInterval)
	require.NoError(t, s.Close(t.Context()))

	s, err = bufferedsender.New(&sendertest.Indexer{}, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 20_000, MaxBatchBytes: 40_000_000}})
	require.NoError(t, err)
	assert.Equal(t, 80_000, s.Control().Limits.MaxBufferedActions, "four full batches if that is more")
	assert.EqualValues(t, 160_000_000, s.Control().Limits.MaxBufferedBytes)
	require.NoError(t, s.Close(t.Context()))
}

func TestTheErrorOfARejectedActionHasItsTag(t *testing.T) {
	actions := []sendertest.Action{models.UploadAction(sendertest.Hotel{ID: "a"}).WithTag("line 1"), models.UploadAction(sendertest.Hotel{ID: "not a key"}).WithTag("line 2")}
	raw := []models.RawAction{{Type: models.ActionTypeUpload, Key: "a", Document: []byte(`{"id":"a"}`), Tag: "line 1"}, {Type: models.ActionTypeUpload, Key: "not a key", Document: []byte(`{"id":"not a key"}`), Tag: "line 2"}}
	for name, add := range map[string]func(r *sendertest.Rig) error{
		"IndexDocuments":    func(r *sendertest.Rig) error { return r.Sender.IndexDocuments(t.Context(), actions...) },
		"TryIndexDocuments": func(r *sendertest.Rig) error { return r.Sender.TryIndexDocuments(actions...) },
		"Raw":               func(r *sendertest.Rig) error { return r.Sender.Raw().Add(t.Context(), raw...) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, nil)
				var rejected *bufferedsender.AddError
				require.ErrorAs(t, add(r), &rejected)
				assert.Equal(t, "line 2", rejected.Tag)
				assert.Equal(t, 1, rejected.Accepted)
				require.NoError(t, r.Close())
			})
		})
	}
}
