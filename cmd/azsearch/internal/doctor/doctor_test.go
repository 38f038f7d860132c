package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/go-azsearch/azsearch/bufferedsender/outbox"
	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/models"
)

// states returns the findings without their texts.
func states(f Findings) string {
	var all []string
	for _, x := range f {
		all = append(all, x.Check+" "+string(x.State))
		if x.State != OK && x.Do == "" {
			all = append(all, "nothing to do")
		}
	}
	return strings.Join(all, ", ")
}

func TestNetworkChecksCertificateAndClock(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	end := server.Certificate().NotAfter
	for now, want := range map[time.Time]string{
		time.Now():                            "endpoint ok, tcp ok, tls ok, clock ok",
		time.Now().Add(2 * time.Minute):       "endpoint ok, tcp ok, tls ok, clock warning",
		end.Add(-expiresSoon + 1*time.Minute): "endpoint ok, tcp ok, tls warning, clock failure",
	} {
		var f Findings
		n := &Network{Transport: server.Client().Transport, Now: func() time.Time { return now }}
		assert.True(t, n.Check(t.Context(), &f, server.URL))
		assert.Equal(t, want, states(f))
	}
}

func TestNetworkSaysWhereItEnds(t *testing.T) {
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	plain := httptest.NewServer(http.NotFoundHandler())
	plain.Close()
	open := httptest.NewServer(http.NotFoundHandler())
	defer open.Close()
	for endpoint, want := range map[string]string{
		secure.URL: "endpoint ok, tcp ok, tls failure", // not trusted
		plain.URL:  "endpoint ok, tcp failure",
		strings.Replace(open.URL, "http:", "https:", 1): "endpoint ok, tcp ok, tls failure",
		open.URL + "/search":                            "endpoint warning, tcp ok, clock ok",
	} {
		var f Findings
		n := NewNetwork()
		assert.Equal(t, n.Check(t.Context(), &f, endpoint), f.Count(Failure) == 0)
		assert.Equal(t, want, states(f), endpoint)
	}
}

type replies func() (*http.Response, error)

func (r replies) RoundTrip(*http.Request) (*http.Response, error) { return r() }

func TestNetworkLooksANameUpTwice(t *testing.T) {
	for name, c := range map[string]struct {
		addresses [2][]string
		want      string
	}{
		"the same":           {[2][]string{{"20.0.0.1", "20.0.0.2"}, {"20.0.0.2", "20.0.0.1"}}, "endpoint warning, dns ok, clock warning"},
		"another":            {[2][]string{{"20.0.0.1"}, {"20.0.0.2"}}, "endpoint warning, dns warning, clock warning"},
		"private, then not":  {[2][]string{{"10.0.0.1"}, {"20.0.0.2"}}, "endpoint warning, dns warning, clock warning"},
		"none":               {[2][]string{}, "endpoint warning, dns failure"},
		"none, a bit later":  {[2][]string{{"10.0.0.1"}}, "endpoint warning, dns warning, clock warning"},
		"private both times": {[2][]string{{"10.0.0.1"}, {"10.0.0.1"}}, "endpoint warning, dns ok, clock warning"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				n := &Network{Now: time.Now, Transport: replies(func() (*http.Response, error) {
					return &http.Response{Body: http.NoBody}, nil
				}), Lookup: func(_ context.Context, host string) ([]string, error) {
					found := c.addresses[asked]
					if asked++; found == nil {
						return nil, errors.New("no such host")
					}
					return found, nil
				}}
				var f Findings
				n.Check(t.Context(), &f, "http://x.search.example")
				assert.Equal(t, c.want, states(f))
				assert.Equal(t, strings.Contains(name, "private, then"), strings.Contains(fmt.Sprint(f), "alternate between private and public"))
			})
		})
	}
}

func TestQuotasWarnBeforeTheyAreUsedUp(t *testing.T) {
	counter := func(used, most int64) *models.ResourceCounter {
		return &models.ResourceCounter{Usage: used, Quota: &most}
	}
	var f Findings
	quotas(&f, &models.ServiceCounters{
		Documents: &models.ResourceCounter{Usage: 1}, StorageSize: counter(79<<30, 100<<30), VectorIndexSize: counter(80<<30, 100<<30),
		Indexes: counter(3, 3), Aliases: counter(0, 0), Skillsets: counter(4, 5),
	})
	assert.Equal(t, "quota warning, quota failure, quota warning, quota ok", states(f))
	assert.Equal(t, "vectors in memory 80 GiB of 100 GiB (80 %)", f[0].Says)
	assert.Equal(t, "storage 79 GiB of 100 GiB", f[3].Says)
}

func TestIndexWarnsBeforeItsLimits(t *testing.T) {
	index := &models.SearchIndex{Fields: []models.SearchField{{Name: "id"}, {Name: "address", Fields: []models.SearchField{{Name: "city"}, {Name: "street"}}}}}
	var f Findings
	size(&f, index, &models.IndexStatistics{DocumentCount: 7, StorageSize: 90}, &models.ServiceLimits{MaxFieldsPerIndex: new(int64(5)), MaxStoragePerIndex: new(int64(100))})
	assert.Equal(t, "index warning, index warning, index ok", states(f))
	assert.Equal(t, "fields 4 of 5 (80 %)", f[1].Says)
}

func TestQueueAndOutboxSayWhatWaits(t *testing.T) {
	now := time.Now()
	old := now.Add(-time.Hour)
	for want, s := range map[string]queue.Stats{
		"queue ok":                     {Waiting: 1, Oldest: now.Add(-time.Second)},
		"queue warning":                {Waiting: 1, Oldest: old},
		"queue warning, queue warning": {Paused: true, Parked: 1},
	} {
		var f Findings
		Queue(&f, "q", &s, nil, now)
		assert.Equal(t, want, states(f))
	}
	var f Findings
	Queue(&f, "q", &queue.Stats{}, queue.ErrLost, now)
	assert.Equal(t, "queue failure", states(f))
	for want, lag := range map[string]outbox.Lag{
		"outbox ok":                      {Rows: 1, Oldest: time.Second},
		"outbox warning":                 {Rows: 1, Oldest: time.Hour},
		"outbox warning, outbox warning": {Paused: true, Dead: 1},
		"outbox ok, outbox warning":      {OldestTransaction: time.Hour},
	} {
		var f Findings
		Outbox(&f, "o", &lag)
		assert.Equal(t, want, states(f))
	}
}
