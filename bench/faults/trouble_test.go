package faults

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/deadletter"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// client sends documents to a service without a sender.
type client struct {
	t       *testing.T
	service *service
	at      addresses
	http    *http.Client
}

func newClient(t *testing.T, c serviceConfig) *client {
	t.Helper()
	c.Actions, c.Longest = 10, bodyBytes
	s, at, err := startService(c)
	require.NoError(t, err)
	transport := &http.Transport{}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		require.NoError(t, s.close())
	})
	return &client{t, s, at, &http.Client{Transport: transport}}
}

// post uploads one document and returns the reply.
func (c *client) post(ctx context.Context, document string) (status int, retryAfter string, err error) {
	c.t.Helper()
	body := strings.NewReader(`{"value":[{"@search.action":"upload",` + document + `}]}`)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.at.Service+"/indexes('"+indexName+"')/docs/search.index?api-version=2024-07-01", body)
	require.NoError(c.t, err)
	req.Header.Set("Api-Key", firstKey)
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, resp.Header.Get("Retry-After"), err
}

func TestAPoisonedDocumentBreaksTheConnectionAndNoOther(t *testing.T) {
	c := newClient(t, serviceConfig{Trouble: trouble{Poison: "d1"}})
	_, _, err := c.post(t.Context(), `"id":"d1","rev":1`)
	require.Error(t, err)
	status, _, err := c.post(t.Context(), `"id":"d11","rev":2`)
	require.NoError(t, err)
	assert.Equal(t, 200, status)
	assert.Equal(t, []string{"d11"}, c.service.emulator.DocumentKeys(indexName))
}

// A request that has not arrived completely when the client gives up is not applied, and the witness does not record
// it.
func TestWhatDoesNotArriveInTimeIsNotApplied(t *testing.T) {
	c := newClient(t, serviceConfig{Trouble: trouble{Line: 1}})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, _, err := c.post(ctx, `"id":"d1","rev":1`)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	seen := c.service.testimony()
	assert.Empty(t, seen.Requests)
	assert.Empty(t, seen.Index)
}

func TestTheRetryAfterOf503IsAsItIsWritten(t *testing.T) {
	past := "Mon, 02 Jan 2006 15:04:05 GMT"
	c := newClient(t, serviceConfig{Trouble: trouble{RetryAfter: past}, Faults: faults(searchtest.Fault{Count: 1, Status: 503})})
	status, after, err := c.post(t.Context(), `"id":"d1","rev":1`)
	require.NoError(t, err)
	assert.Equal(t, 503, status)
	assert.Equal(t, past, after)
	status, after, err = c.post(t.Context(), `"id":"d1","rev":1`)
	require.NoError(t, err)
	assert.Equal(t, 200, status)
	assert.Empty(t, after)
}

func TestADriftedIndexTakesTheFieldWhenItIsMended(t *testing.T) {
	c := newClient(t, serviceConfig{Trouble: trouble{Drifted: true}})
	ranked, plain := `"id":"d1","rev":1,"rank":1`, `"id":"d2","rev":2`
	for _, want := range []struct {
		document string
		status   int
	}{{ranked, 400}, {plain, 200}} {
		status, _, err := c.post(t.Context(), want.document)
		require.NoError(t, err)
		assert.Equal(t, want.status, status, want.document)
	}
	require.NoError(t, mend(c.service.emulator))
	status, _, err := c.post(t.Context(), ranked)
	require.NoError(t, err)
	assert.Equal(t, 200, status)
	assert.Equal(t, state{Rev: 2}, c.service.testimony().Index["d2"])
}

func TestFirstAppliedIsTheFirstRequestThatEndedWithSomethingApplied(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	seen := &testimony{Requests: []received{
		{Arrived: at(0), Ended: at(1), Carried: []carried{{Status: 200}}},
		{Arrived: at(0), Ended: at(9), Carried: []carried{{Status: 201}}},
		{Arrived: at(2), Ended: at(3), Carried: []carried{{Status: 503}, {}}},
		{Arrived: at(4), Ended: at(5), Carried: []carried{{Status: 503}, {Status: 200}}},
		{Arrived: at(6), Ended: at(7), Carried: []carried{{Status: 200}}},
	}}
	for after, want := range map[int]int{0: 1, 1: 5, 5: 7, 7: 9} {
		got, ok := seen.firstApplied(at(after))
		assert.True(t, ok, after)
		assert.Equal(t, at(want), got, after)
	}
	_, ok := seen.firstApplied(at(9))
	assert.False(t, ok)
}

func TestWhatWasGivenUpMustBeInTheDeadLetters(t *testing.T) {
	p := newPlan(shape{documents: 4, size: 20, seed: 1})
	key := p.key(p.actions[0].key)
	for name, c := range map[string]struct {
		outcome outcome
		letters int
		wrong   int
	}{
		"failed, a letter":           {failed, 1, 0},
		"unsent, a letter":           {unsent, 1, 0},
		"completed, none":            {completed, 0, 0},
		"unsent, none":               {unsent, 0, 1},
		"unsent, two":                {unsent, 2, 1},
		"completed, a letter":        {completed, 1, 1},
		"not settled, a dead letter": {open, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			check := &checker{plan: p, ledger: newLedger(p)}
			check.ledger.accounts[0].outcome = c.outcome
			l := &letters{byKey: map[string]int{}}
			for range c.letters {
				require.NoError(t, l.Write(t.Context(), []deadletter.Letter{{Key: key}}))
			}
			check.letters(l)
			assert.Equal(t, c.wrong, check.Wrong, check.Errors)
			check.letters(nil)
			assert.Equal(t, c.wrong, check.Wrong)
		})
	}
}
