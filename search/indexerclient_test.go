package search_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models/indexers"
	"github.com/go-azsearch/azsearch/models/skills"
	"github.com/go-azsearch/azsearch/search"
)

func TestADataSourceThatWasReadKeepsItsConnectionString(t *testing.T) {
	const stored = `{"@odata.etag":"\"1\"","name":"blobs","type":"azureblob","credentials":{"connectionString":null},"container":{"name":"c","query":null}}`
	w := reply(200, stored)
	client := newIndexerClient(t, w)
	source, err := client.GetDataSource(t.Context(), "blobs", nil)
	require.NoError(t, err)
	source.Container.Query = "folder/"
	_, err = client.CreateOrUpdateDataSource(t.Context(), source, nil)
	require.NoError(t, err)
	assert.JSONEq(t, `{"@odata.etag":"\"1\"","name":"blobs","type":"azureblob","credentials":{"connectionString":"<unchanged>"},"container":{"name":"c","query":"folder/"}}`, w.bodies[1])
	assert.Equal(t, `"1"`, w.requests[1].Header.Get("If-Match"))
	source.Credentials.ConnectionString = "new"
	_, err = client.CreateOrUpdateDataSource(t.Context(), source, nil)
	require.NoError(t, err)
	assert.Contains(t, w.bodies[2], `"connectionString":"new"`)
}

func TestMissingDefinitionsHaveErrorsOfTheirOwn(t *testing.T) {
	w := reply(404, `{"error":{"code":"","message":"No such thing."}}`)
	client := newIndexerClient(t, w)
	_, err := client.GetDataSource(t.Context(), "x", nil)
	require.ErrorIs(t, err, search.ErrDataSourceNotFound)
	require.ErrorIs(t, client.RunIndexer(t.Context(), "x", nil), search.ErrIndexerNotFound)
	require.ErrorIs(t, client.DeleteSkillset(t.Context(), "x", nil), search.ErrSkillsetNotFound)
	assert.ErrorContains(t, client.RunIndexer(t.Context(), "", nil), "the name of the indexer is empty")
	assert.Len(t, w.requests, 3)
}

func TestWhatAVersionLacksIsNotSent(t *testing.T) {
	w := reply(200, `{"value":[]}`)
	opts := options(w)
	opts.APIVersion = "2026-04-01"
	client, err := search.NewIndexerClientWithKey(testEndpoint, credential, opts)
	require.NoError(t, err)
	require.ErrorContains(t, client.ResetDocuments(t.Context(), "x", nil, nil), "2020-06-30-preview or a newer preview")
	require.ErrorContains(t, client.ResyncIndexer(t.Context(), "x", nil, nil), "2026-10-01 or newer")
	for _, err := range client.ListIndexers(t.Context(), &search.ListIndexersOptions{Prefix: "a"}) {
		require.ErrorContains(t, err, "Prefix and PageSize")
	}
	assert.Empty(t, w.requests)
}

// "1h" is no error of the service's: no version can read it.
func TestDurationsThatNoServiceCanReadAreNotSent(t *testing.T) {
	w := reply(201, `{"name":"x"}`)
	client, ctx := newIndexerClient(t, w), t.Context()
	for _, interval := range []string{"1h", "PT1M", "P2D", ""} {
		x := indexers.Indexer{Name: "x", Schedule: &indexers.Schedule{Interval: interval}}
		_, created := client.CreateIndexer(ctx, x, nil)
		_, put := client.CreateOrUpdateIndexer(ctx, x, nil)
		for _, err := range []error{created, put} {
			var problem *search.CheckProblem
			require.ErrorAs(t, err, &problem)
			assert.Equal(t, "schedule.interval", problem.Field)
			assert.ErrorContains(t, err, `indexer "x": field schedule.interval: got the interval "`+interval+`": use an ISO 8601 duration`)
		}
	}
	_, err := client.CreateSkillset(ctx, skills.Skillset{Name: "x", Skills: []skills.Skill{skills.WebAPI{URI: "https://h.example/S3CRET", Timeout: "30s"}}}, nil)
	require.ErrorContains(t, err, `field skills/#1.timeout: got the timeout "30s"`)
	assert.NotContains(t, err.Error(), "S3CRET")
	assert.Empty(t, w.requests)

	// All other faults are left to the service.
	_, err = client.CreateIndexer(ctx, indexers.Indexer{Name: "x", Schedule: &indexers.Schedule{Interval: "PT5M"}}, nil)
	require.NoError(t, err)
	_, err = client.CreateSkillset(ctx, skills.Skillset{Name: "x", Skills: []skills.Skill{skills.WebAPI{DegreeOfParallelism: new(11)}}}, nil)
	require.NoError(t, err)
}

func TestDoTakesNoCredentials(t *testing.T) {
	for _, name := range []string{"api-key", "Api-Key", "authorization"} {
		w := reply(200, `{}`)
		_, err := search.Do(t.Context(), newIndexerClient(t, w), http.MethodGet, "/servicestats", nil, &search.DoOptions{Header: http.Header{name: {"S3CRET"}}})
		require.ErrorContains(t, err, "make a client with these credentials")
		assert.NotContains(t, err.Error(), "S3CRET")
		assert.Empty(t, w.requests)
	}
}

func TestListsFollowTheirPages(t *testing.T) {
	w := replies(
		response(200, `{"value":[{"name":"a1"}],"@odata.nextLink":"`+testEndpoint+`/indexers?api-version=2026-10-01&next=2"}`),
		response(200, `{"value":[{"name":"a2"}]}`))
	opts := options(w)
	opts.APIVersion = "2026-10-01"
	client, err := search.NewIndexerClientWithKey(testEndpoint, credential, opts)
	require.NoError(t, err)
	var names []string
	for indexer, err := range client.ListIndexers(t.Context(), &search.ListIndexersOptions{Prefix: "a", PageSize: 1}) {
		require.NoError(t, err)
		names = append(names, indexer.Name)
	}
	assert.Equal(t, []string{"a1", "a2"}, names)
	assert.Equal(t, "a", w.requests[0].URL.Query().Get("search"))
	assert.Equal(t, "2", w.requests[1].URL.Query().Get("next"))
}

// indexer is a service with one indexer.
type indexer struct {
	*wire
	runs      int
	queued    time.Time
	busyUntil time.Time
	last      *indexers.Execution
	fails     int64
}

func newIndexer() *indexer {
	s := &indexer{}
	s.wire = &wire{answer: func(_ int, req *http.Request) (*http.Response, error) {
		now := time.Now()
		if !s.queued.IsZero() && !now.Before(s.queued) {
			s.begin(s.queued)
			s.queued = time.Time{}
		}
		if s.last != nil && s.last.Status == indexers.ExecutionStatusInProgress && !now.Before(s.busyUntil) {
			s.last.Status, s.last.EndTime, s.last.ItemsProcessed, s.last.ItemsFailed = indexers.ExecutionStatusSuccess, &s.busyUntil, 10, s.fails
			if s.fails > 0 {
				s.last.Errors = []indexers.ItemError{{Key: "7", ErrorMessage: "too large"}}
			}
		}
		if req.Method == http.MethodPost {
			if now.Before(s.busyUntil) {
				return response(409, `{"error":{"code":"","message":"Another indexer invocation is currently in progress; concurrent invocations are not allowed."}}`), nil
			}
			s.runs++
			s.begin(now)
			return response(202, ""), nil
		}
		b, err := json.Marshal(indexers.Status{Name: "i", Status: indexers.IndexerStatusRunning, LastResult: s.last})
		return response(200, string(b)), err
	}}
	return s
}

func (s *indexer) begin(now time.Time) {
	s.busyUntil = now.Add(time.Minute)
	s.last = &indexers.Execution{Status: indexers.ExecutionStatusInProgress, StartTime: &now}
}

func TestWaitForIndexerReturnsTheExecutionThatItStarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newIndexer()
		client := newIndexerClient(t, s)
		start := time.Now()
		done, err := client.WaitForIndexer(t.Context(), "i", nil)
		require.NoError(t, err)
		assert.Equal(t, int64(10), done.ItemsProcessed)
		assert.Less(t, len(s.requests), 15, "the interval of requests grows")
		assert.Less(t, time.Since(start), 2*time.Minute)

		s.begin(time.Now()) // by the schedule
		s.fails = 2
		_, err = client.WaitForIndexer(t.Context(), "i", nil)
		var failed *search.IndexerError
		require.ErrorAs(t, err, &failed)
		assert.Equal(t, `search: indexer "i": execution ended with status "success"; 2 of 10 items failed; first: "7": too large`, err.Error())
		assert.Equal(t, 2, s.runs, "the execution under way was waited for, and another one run")
	})
}

func TestWaitForIndexerPollsPolitelyForHours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newIndexer()
		s.begin(time.Now())
		s.busyUntil = time.Now().Add(6 * time.Hour)
		_, err := newIndexerClient(t, s).WaitForIndexer(t.Context(), "i", nil)
		require.NoError(t, err)
		assert.Less(t, len(s.requests), 6*120+30, "one request in 30 s")
	})
}

func TestWaitForIndexerIgnoresAReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newIndexer()
		at := time.Now()
		s.last = &indexers.Execution{Status: indexers.ExecutionStatusReset, StartTime: &at, EndTime: &at}
		time.Sleep(time.Second)
		done, err := newIndexerClient(t, s).WaitForIndexer(t.Context(), "i", nil)
		require.NoError(t, err)
		assert.Equal(t, indexers.ExecutionStatusSuccess, done.Status)
	})
}

func TestWaitForIndexerWaitsForAnIndexerThatIsCreatedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newIndexer()
		at := time.Now()
		s.last = &indexers.Execution{Status: indexers.ExecutionStatusSuccess, StartTime: &at, EndTime: &at}
		answer := s.answer
		s.answer = func(n int, req *http.Request) (*http.Response, error) {
			switch passed := time.Since(at); {
			case passed > time.Hour && s.last == nil:
				s.begin(time.Now())
			case passed > time.Second && passed < time.Hour:
				s.last = nil // deleted, and created without a run
			}
			return answer(n, req)
		}
		time.Sleep(time.Millisecond)
		_, err := newIndexerClient(t, s).WaitForIndexer(t.Context(), "i", nil)
		require.NoError(t, err)
		assert.Greater(t, time.Since(at), time.Hour)
	})
}

func TestWaitForIndexerOnlyWaitsIfItIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newIndexer()
		client := newIndexerClient(t, s)
		wait := func() (indexers.Execution, error) {
			return client.WaitForIndexer(t.Context(), "i", &search.WaitForIndexerOptions{NoRun: true})
		}
		created := time.Now()
		s.queued, s.fails = created.Add(5*time.Second), 3 // the run of the creation starts a moment later
		_, err := wait()
		var failed *search.IndexerError
		require.ErrorAs(t, err, &failed, "not the result of a second run, which does not try the items again")
		assert.EqualValues(t, 3, failed.Execution.ItemsFailed)
		assert.Greater(t, time.Since(created), time.Minute)

		start := time.Now()
		_, err = wait()
		require.ErrorAs(t, err, &failed)
		assert.Zero(t, time.Since(start), "nothing is under way")
		assert.Zero(t, s.runs)

		at := time.Now()
		s.last = &indexers.Execution{Status: indexers.ExecutionStatusReset, StartTime: &at, EndTime: &at}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		_, err = client.WaitForIndexer(ctx, "i", &search.WaitForIndexerOptions{NoRun: true})
		require.ErrorIs(t, err, context.DeadlineExceeded, "a reset starts nothing")
	})
}

func TestWaitForIndexerEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newIndexer()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		_, err := newIndexerClient(t, s).WaitForIndexer(ctx, "i", nil)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.ErrorContains(t, err, `WaitForIndexer of indexer "i"`)
	})
}

func TestDoSendsWhatThereIsNoFunctionFor(t *testing.T) {
	w := replies(response(503, ``), response(200, `{"ok":true}`), response(404, `{"error":{"code":"","message":"gone"}}`))
	client := newIndexerClient(t, w)
	resp, err := search.Do(t.Context(), client, http.MethodPost, search.PathOf("skillsets", "it's", "search.resetskills"), map[string]any{"skillNames": []string{"<a>"}},
		&search.DoOptions{APIVersion: "2026-08-01-preview", Query: map[string][]string{"$select": {"name"}}, Header: http.Header{"x-more": {"1"}}})
	require.NoError(t, err)
	assert.Equal(t, 200, resp.StatusCode)
	assert.Equal(t, `{"skillNames":["<a>"]}`, w.bodies[1])
	assert.Equal(t, "/skillsets('it''s')/search.resetskills", w.requests[1].URL.Path)
	assert.Equal(t, "api-version=2026-08-01-preview&%24select=name", w.requests[1].URL.RawQuery)
	assert.Equal(t, testKey, w.requests[1].Header.Get("Api-Key"))
	assert.Equal(t, "1", w.requests[1].Header.Get("X-More"))
	_, err = search.Do(t.Context(), client, http.MethodGet, "/x", nil, nil)
	var refused *search.Error
	require.ErrorAs(t, err, &refused)
	_, err = search.Do(t.Context(), client, http.MethodGet, "x?y", nil, &search.DoOptions{APIVersion: "new"})
	require.ErrorContains(t, err, "begins with a slash")
	require.ErrorContains(t, err, "is not a date")
	_, err = search.Do(t.Context(), (*search.Client)(nil), http.MethodGet, "/x", nil, nil)
	require.ErrorContains(t, err, "got a nil *search.Client")
	assert.Len(t, w.requests, 3)
}

func TestMoreLikeThisIsOfNewVersions(t *testing.T) {
	w := reply(200, `{"value":[]}`)
	for version, want := range map[string]string{"2026-10-01": "", "2026-04-01": "MoreLikeThis: api-version 2026-04-01 does not have it"} {
		opts := options(w)
		opts.APIVersion = version
		client, err := search.NewClientWithKey(testEndpoint, "hotels", credential, opts)
		require.NoError(t, err)
		_, err = search.NewSearchPager[hotel](client, "", &search.SearchOptions{MoreLikeThis: "7"}).NextPage(t.Context())
		if want != "" {
			require.ErrorContains(t, err, want)
			continue
		}
		require.NoError(t, err)
		assert.Contains(t, w.bodies[0], `"moreLikeThis":"7"`)
		_, err = search.NewSearchPager[hotel](client, "text", &search.SearchOptions{MoreLikeThis: "7"}).NextPage(t.Context())
		var invalid *search.InvalidQueryError
		assert.True(t, errors.As(err, &invalid))
	}
	assert.False(t, strings.Contains(w.bodies[0], `"search":`))
}
