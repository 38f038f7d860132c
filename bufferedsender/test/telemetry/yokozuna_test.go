package telemetry

import (
	"errors"
	"math"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// statistic is the equivalent of one of Yokozuna's statistics, computed from a snapshot of all metrics.
type statistic func(t *testing.T, reader *sdkmetric.ManualReader) float64

// only selects the points of a metric that have the attributes, given as name=value. The value "*" stands for any,
// and "" for none.
func only(metric string, attributes ...string) func(p point) bool {
	return func(p point) bool {
		if p.name != metric {
			return false
		}
		for _, a := range attributes {
			name, want, _ := strings.Cut(a, "=")
			has := ""
			for _, own := range p.attributes.ToSlice() {
				if string(own.Key) == name {
					has = own.Value.String()
				}
			}
			if want == "*" && has == "" || want != "*" && !regexp.MustCompile("^("+want+")$").MatchString(has) {
				return false
			}
		}
		return true
	}
}

// count adds up the values: of a histogram the number of measurements.
func count(metric string, attributes ...string) statistic {
	return func(t *testing.T, reader *sdkmetric.ManualReader) (n float64) {
		eachPoint(t, reader, func(p point) {
			if only(metric, attributes...)(p) {
				n += p.value
			}
		})
		return n
	}
}

// total adds up the sums of a histogram.
func total(metric string, attributes ...string) statistic {
	return func(t *testing.T, reader *sdkmetric.ManualReader) (n float64) {
		eachPoint(t, reader, func(p point) {
			if only(metric, attributes...)(p) {
				n += p.sum
			}
		})
		return n
	}
}

const (
	operations = "db.client.operation.duration"
	drains     = "azsearch.sender.drain.duration"
)

// statistics are the rows of "Coming from Yokozuna" in TELEMETRY.md. For latencies it is the sum, because the count
// alone gives no duration.
var statistics = map[string]statistic{
	"search_index_throughput":                count("azsearch.sender.items.settled", "azsearch.outcome=completed"),
	"search_index_latency":                   total(operations, "db.operation.name=BATCH"),
	"search_index_fail":                      count(operations, "db.operation.name=BATCH", "error.type=*"),
	"search_index_bad_entry":                 count("azsearch.sender.items.settled", "azsearch.outcome=failed", "db.response.status_code=400"),
	"search_index_extract_fail":              count("azsearch.sender.items.rejected"),
	"search_queue_batch_throughput":          count(operations, "db.operation.name=BATCH", "error.type="),
	"search_queue_batch_latency":             total(operations, "db.operation.name=BATCH"),
	"search_queue_batchsize":                 total("azsearch.sender.batch.items"),
	"search_queue_hwm_purged":                count("azsearch.sender.items.purged"),
	"search_queue_total_length":              count("azsearch.sender.queue.items"),
	"search_queue_capacity":                  count("azsearch.sender.queue.items"), // by something that does not change here
	"search_blockedvnode":                    count("azsearch.sender.producers.waits"),
	"search_queue_drain":                     count(drains, "azsearch.drain.outcome=ok"),
	"search_queue_drain_fail":                count(drains, "azsearch.drain.outcome=failed"),
	"search_queue_drain_timeout":             count(drains, "azsearch.drain.outcome=timeout"),
	"search_queue_drain_cancel_timeout":      count(operations, "error.type=abandoned"),
	"search_queue_drain_latency":             total(drains, "azsearch.drain.outcome=ok"),
	"search_query_throughput":                count(operations, "db.operation.name=SEARCH", "error.type="),
	"search_query_latency":                   total(operations, "db.operation.name=SEARCH", "error.type="),
	"search_query_fail":                      count(operations, "db.operation.name=SEARCH", "error.type=*"),
	"search_index_error_threshold_ok":        count(operations, "db.operation.name=BATCH"),
	"search_index_error_threshold_failure":   count(operations, "db.operation.name=BATCH", "error.type=5..|connection|timeout|malformed_reply"),
	"search_index_error_threshold_blown":     count("azsearch.sender.breaker.changes", "azsearch.breaker.state=open"),
	"search_index_error_threshold_recovered": count("azsearch.sender.breaker.changes", "azsearch.breaker.state=closed"),
}

// noStatisticHere are statistics that have no meaning here according to the manual.
var noStatisticHere = []string{"search_detected_repairs"}

// watched is a rig whose client uses the sender's provider, as in a program that sets the global one.
type watched struct {
	*sendertest.Rig
	client *search.Client
}

func (w *watched) query() error {
	_, err := search.NewSearchPager[sendertest.Hotel](w.client, "", nil).NextPage(w.T.Context())
	return err
}

// batchOfTwo has the changes by a request with two documents that takes a second.
var batchOfTwo = reading{
	"search_index_latency": 1, "search_queue_batch_latency": 1, "search_queue_batchsize": 2, "search_index_error_threshold_ok": 1,
}

var yokozuna = map[string]struct {
	opts   func(t *testing.T) *sendertest.Options
	before func(w *watched)
	act    func(w *watched)
	want   reading // the changed statistics with their differences; all others must stay
}{
	"documents wait in a queue": {
		act:  func(w *watched) { w.Upload(sendertest.Hotels("k", 3)...) },
		want: reading{"search_queue_total_length": 3, "search_queue_capacity": 3},
	},
	"a batch is delivered": {
		opts: fullAtTwo, before: answerSlowly,
		act:  func(w *watched) { w.Upload(sendertest.Hotels("k", 2)...); time.Sleep(time.Minute) },
		want: together(batchOfTwo, reading{"search_index_throughput": 2, "search_queue_batch_throughput": 1}),
	},
	"a batch fails once": {
		opts: fullAtTwo,
		before: func(w *watched) {
			w.Respond(sendertest.First(1, sendertest.Always(500, sendertest.ErrorBody("busy"))))
		},
		act: func(w *watched) { w.Upload(sendertest.Hotels("k", 2)...); time.Sleep(time.Minute) },
		want: reading{
			"search_queue_batchsize": 4, "search_index_error_threshold_ok": 2, "search_index_throughput": 2, "search_queue_batch_throughput": 1,
			"search_index_fail": 1, "search_index_error_threshold_failure": 1,
		},
	},
	"a document is bad": {
		opts: fullAtTwo,
		before: func(w *watched) {
			w.Faults(sendertest.RefuseKeys("k-0"))
		},
		act: func(w *watched) { w.Upload(sendertest.Hotels("k", 2)...); time.Sleep(time.Minute) },
		want: reading{
			"search_queue_batchsize": 2, "search_index_error_threshold_ok": 1, "search_index_throughput": 1, "search_queue_batch_throughput": 1,
			"search_index_bad_entry": 1,
		},
	},
	"a document cannot be encoded": {
		opts: func(*testing.T) *sendertest.Options {
			return &sendertest.Options{Documents: bufferedsender.Documents[sendertest.Hotel]{
				Encode: func(any) ([]byte, error) { return nil, errors.ErrUnsupported },
			}}
		},
		act: func(w *watched) {
			assert.Error(w.T, w.Sender.UploadDocuments(w.T.Context(), sendertest.Hotel{ID: "a"}))
		},
		want: reading{"search_index_extract_fail": 1},
	},
	"a caller is blocked": {
		opts: func(*testing.T) *sendertest.Options {
			return &sendertest.Options{Limits: bufferedsender.Limits{MaxBufferedActions: 2}}
		},
		before: func(w *watched) { w.Sender.Pause(); w.Upload(sendertest.Hotels("k", 2)...) },
		act: func(w *watched) {
			assert.Error(w.T, w.Sender.UploadDocuments(sendertest.Within(w.T, time.Second), sendertest.Hotel{ID: "a"}))
		},
		want: reading{"search_blockedvnode": 1},
	},
	"an overfull queue is purged while the fuse is blown": {
		opts: func(t *testing.T) *sendertest.Options {
			return &sendertest.Options{
				Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil), WhenFull: bufferedsender.PurgeOldest(bufferedsender.AllowLoss)},
				Limits: bufferedsender.Limits{MaxBufferedActions: 3},
			}
		},
		before: func(w *watched) { w.Sender.Breaker().Disable(); w.Upload(sendertest.Hotels("k", 3)...) },
		act:    func(w *watched) { w.Upload(sendertest.Hotels("m", 2)...) },
		want:   reading{"search_queue_hwm_purged": 2, "search_blockedvnode": perhaps}, // until the room is freed
	},
	"a queue is drained": {
		before: func(w *watched) { answerSlowly(w); w.Upload(sendertest.Hotels("k", 2)...) },
		act:    func(w *watched) { require.NoError(w.T, w.Flush()) },
		want: together(batchOfTwo, reading{
			"search_queue_total_length": -2, "search_queue_capacity": -2, "search_index_throughput": 2, "search_queue_batch_throughput": 1,
			"search_queue_drain": 1, "search_queue_drain_latency": 1,
		}),
	},
	"some keys are drained": {
		before: func(w *watched) { answerSlowly(w); w.Upload(sendertest.Hotels("k", 2)...) },
		act: func(w *watched) {
			require.NoError(w.T, w.Sender.Flush(w.T.Context(), &bufferedsender.FlushOptions{Keys: []string{"k-0", "k-1"}}))
		},
		want: together(batchOfTwo, reading{
			"search_queue_total_length": -2, "search_queue_capacity": -2, "search_index_throughput": 2, "search_queue_batch_throughput": 1,
			"search_queue_drain": 1, "search_queue_drain_latency": 1,
		}),
	},
	"a drain fails": {
		before: func(w *watched) {
			w.Faults(sendertest.RefuseKeys("k-0"))
			w.Upload(sendertest.Hotels("k", 2)...)
		},
		act: func(w *watched) { require.Error(w.T, w.Flush()) },
		want: reading{
			"search_queue_total_length": -2, "search_queue_capacity": -2, "search_queue_batchsize": 2, "search_index_error_threshold_ok": 1,
			"search_index_throughput": 1, "search_queue_batch_throughput": 1, "search_index_bad_entry": 1, "search_queue_drain_fail": 1,
		},
	},
	"a drain times out": {
		before: func(w *watched) { w.Sender.Pause(); w.Upload(sendertest.Hotels("k", 2)...) },
		act: func(w *watched) {
			require.ErrorIs(w.T, w.Sender.Flush(sendertest.Within(w.T, time.Second), nil), bufferedsender.ErrPaused)
		},
		want: reading{"search_queue_drain_timeout": 1},
	},
	"a query is answered": {
		before: answerSlowly,
		act:    func(w *watched) { require.NoError(w.T, w.query()) },
		want:   reading{"search_query_throughput": 1, "search_query_latency": 1},
	},
	"a query fails": {
		before: func(w *watched) { w.Down(http.StatusForbidden) },
		act:    func(w *watched) { require.Error(w.T, w.query()) },
		want:   reading{"search_query_fail": 1},
	},
	"the fuse blows": {
		opts: func(t *testing.T) *sendertest.Options {
			return &sendertest.Options{Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)}, Limits: bufferedsender.Limits{MaxBatchActions: 1}}
		},
		before: func(w *watched) { w.Respond(sendertest.Failing) },
		act:    func(w *watched) { w.Upload(sendertest.Hotel{ID: "a"}); time.Sleep(10 * time.Second) },
		want: reading{
			"search_queue_total_length": 1, "search_queue_capacity": 1, "search_queue_batchsize": 3, "search_index_error_threshold_ok": 3,
			"search_index_fail": 3, "search_index_error_threshold_failure": 3, "search_index_error_threshold_blown": 1,
		},
	},
	"the fuse recovers": {
		opts: func(t *testing.T) *sendertest.Options {
			return &sendertest.Options{Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)}, Limits: bufferedsender.Limits{MaxBatchActions: 1}}
		},
		before: func(w *watched) {
			w.Respond(sendertest.Failing)
			w.Upload(sendertest.Hotel{ID: "a"})
			time.Sleep(10 * time.Second)
		},
		act: func(w *watched) { w.Respond(nil); time.Sleep(time.Minute) },
		want: reading{
			"search_queue_total_length": -1, "search_queue_capacity": -1, "search_queue_batchsize": 1, "search_index_error_threshold_ok": 1,
			"search_index_throughput": 1, "search_queue_batch_throughput": 1, "search_index_error_threshold_recovered": 1,
		},
	},
	"a request does not end when it is cancelled": {
		before: func(w *watched) {
			w.Abandoned = true
			ended := make(chan struct{})
			w.T.Cleanup(func() { close(ended); synctest.Wait() })
			w.Respond(func(int, *sendertest.Request, *http.Request, func() (*http.Response, error)) (*http.Response, error) {
				<-ended
				return nil, sendertest.ErrReset
			})
			w.Upload(sendertest.Hotel{ID: "a"})
		},
		act: func(w *watched) { require.Error(w.T, w.Sender.Close(sendertest.Within(w.T, time.Second))) },
		want: reading{
			"search_queue_total_length": -1, "search_queue_capacity": -1, "search_queue_batchsize": 1, "search_index_error_threshold_ok": 1,
			"search_index_fail": 1, "search_queue_drain_cancel_timeout": 1,
		},
	},
}

func fullAtTwo(*testing.T) *sendertest.Options {
	return &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 2}}
}

// answerSlowly makes each request take a second.
func answerSlowly(w *watched) {
	w.Service.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Delay: searchtest.Duration(time.Second)}}})
}

func TestStatisticsOfYokozunaMoveWhenAndOnlyWhenTheirThingHappens(t *testing.T) {
	snapshot := func(t *testing.T, reader *sdkmetric.ManualReader) reading {
		values := reading{}
		for name, s := range statistics {
			values[name] = s(t, reader)
		}
		return values
	}
	for name, c := range yokozuna {
		t.Run("when "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opts := &sendertest.Options{}
				if c.opts != nil {
					opts = c.opts(t)
				}
				reader := sdkmetric.NewManualReader()
				opts.MeterProvider = sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
				w := &watched{Rig: sendertest.New(t, opts)}
				w.Metrics = reader
				var err error
				w.client, err = search.NewClientWithKey(w.Service.URL(), "hotels", azcore.NewKeyCredential(searchtest.AdminKey),
					&search.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: w.Service}, MeterProvider: opts.MeterProvider})
				require.NoError(t, err)
				if c.before != nil {
					c.before(w)
				}
				synctest.Wait()
				before := snapshot(t, reader)
				c.act(w)
				synctest.Wait()
				moved, want := snapshot(t, reader).since(before), together(c.want)
				for name, by := range want {
					switch {
					case math.IsInf(by, 0) && moved[name] != 0:
						moved[name] = by
					case math.IsNaN(by):
						delete(want, name)
						delete(moved, name)
					}
				}
				assert.Equal(t, want, together(moved))
				w.Sender.Resume() // so that the test ends quickly
				w.Service.SetFaults(nil)
			})
		})
	}
}

// Each statistic is in the manual and is changed by some case, and neither has others.
func TestManualNamesTheStatisticsOfYokozuna(t *testing.T) {
	raw, err := os.ReadFile("../../TELEMETRY.md")
	require.NoError(t, err)
	manual := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(search_\\w+)` \\| (.*) \\|$").FindAllStringSubmatch(string(raw), -1) {
		manual[row[1]] = row[2]
	}
	for name := range statistics {
		assert.Contains(t, manual, name)
		moved := false
		for _, c := range yokozuna {
			_, moves := c.want[name]
			moved = moved || moves
		}
		assert.True(t, moved, "no case moves %s", name)
	}
	for name, here := range manual {
		_, known := statistics[name]
		assert.True(t, known || slices.Contains(noStatisticHere, name), name)
		for _, metric := range regexp.MustCompile(`azsearch\.sender\.[a-z_.]+`).FindAllString(here, -1) {
			assert.Contains(t, metricsOfTheManual(t), metric, name)
		}
	}
}
