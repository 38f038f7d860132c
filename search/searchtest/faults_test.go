package searchtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const indexPath = "/indexes('types')/docs/search.index"

// batchOf is the body of a request that uploads documents with the keys 1 to n.
func batchOf(n int) string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf(`{"id":"%d"}`, i+1))
	}
	return `{"value":[` + strings.Join(out, ",") + `]}`
}

// rules activates rules.
func (p probe) rules(rules ...Fault) { p.SetFaults(&Faults{Seed: 1, Rules: rules}) }

func TestFaultStatusIsAnsweredInsteadOfCarryingOut(t *testing.T) {
	p := newProbe(t, nil)
	for _, status := range []int{409, 413, 429, 500, 502, 503, 504} {
		p.rules(Fault{Status: status, Code: "Broken", Message: "It is broken."})
		a := p.send("POST", indexPath, batchOf(1))
		assert.Equal(t, status, a.status)
		assert.Equal(t, `{"error":{"code":"Broken","message":"It is broken."}}`, a.body)
		p.rules(Fault{Status: status})
		assert.NotEmpty(t, p.send("POST", indexPath, batchOf(1)).message(), "a message that fits is found")
	}
	assert.Zero(t, p.DocumentCount("types"))
	p.rules(Fault{Status: 503, Commit: true})
	assert.Equal(t, 503, p.send("POST", indexPath, batchOf(1)).status)
	assert.EqualValues(t, 1, p.DocumentCount("types"), "commit applies it anyway")
	p.SetFaults(nil)
	assert.Equal(t, 200, p.send("POST", indexPath, batchOf(1)).status)
}

func TestFaultAnswersSuccessToNothing(t *testing.T) {
	p := newProbe(t, nil)
	p.rules(Fault{Status: 200})
	a := p.send("POST", indexPath, batchOf(1))
	assert.Equal(t, 200, a.status)
	assert.Empty(t, a.body)
	assert.Zero(t, p.DocumentCount("types"))
}

func TestFaultRetryAfterInAllItsForms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProbe(t, nil)
		header := func(form RetryAfterForm) http.Header {
			p.rules(Fault{Status: 503, RetryAfter: Duration(1500 * time.Millisecond), RetryAfterForm: form})
			return p.send("GET", "/indexes", "").header
		}
		assert.Equal(t, "2", header("").Get("Retry-After"), "seconds are rounded up")
		assert.Equal(t, "2", header(RetryAfterSeconds).Get("Retry-After"))
		assert.Equal(t, "1500", header(RetryAfterMS).Get("retry-after-ms"))
		assert.Equal(t, "1500", header(RetryAfterXMS).Get("x-ms-retry-after-ms"))
		at, err := http.ParseTime(header(RetryAfterDate).Get("Retry-After"))
		require.NoError(t, err)
		assert.WithinDuration(t, time.Now().Add(1500*time.Millisecond), at, time.Second)
		p.rules(Fault{Status: 503})
		assert.Empty(t, p.send("GET", "/indexes", "").header.Get("Retry-After"))
	})
}

func TestFaultCuts(t *testing.T) {
	p := newProbe(t, nil)
	for cut, applied := range map[Cut]int64{CutBeforeCommit: 0, CutAfterCommit: 1} {
		p.rules(Fault{Cut: cut})
		_, err := p.try(p.request("POST", indexPath, batchOf(1)))
		var op *net.OpError
		require.ErrorAs(t, err, &op, string(cut))
		assert.ErrorIs(t, err, syscall.ECONNRESET)
		assert.Equal(t, applied, p.DocumentCount("types"), string(cut))
		p.SetFaults(nil)
		p.index(`{"id":"1","@search.action":"delete"}`)
	}
}

func TestFaultDamagesBodies(t *testing.T) {
	p := newProbe(t, nil)
	send := func(damage BodyFault) (string, error) {
		if p.SetFaults(nil); damage != "" {
			p.rules(Fault{Body: damage})
		}
		resp, err := p.Do(p.request("POST", indexPath, batchOf(3)))
		require.NoError(t, err)
		defer resp.Body.Close()
		assert.Equal(t, 200, resp.StatusCode)
		body, err := io.ReadAll(resp.Body)
		length, _ := strconv.Atoi(resp.Header.Get("Content-Length"))
		if damage == BodyTruncated {
			assert.Greater(t, length, len(body), "the length promises more than arrives")
		} else {
			assert.Equal(t, length, len(body))
		}
		return string(body), err
	}
	whole, err := send("")
	require.NoError(t, err)
	body, err := send(BodyTruncated)
	assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
	assert.Less(t, len(body), len(whole))
	assert.NotEmpty(t, body)
	body, err = send(BodyMalformed)
	require.NoError(t, err)
	assert.False(t, json.Valid([]byte(body)))
	body, err = send(BodyEmpty)
	require.NoError(t, err)
	assert.Empty(t, body)
	assert.EqualValues(t, 3, p.DocumentCount("types"), "the request was carried out")
}

func TestFaultDamagesResults(t *testing.T) {
	p := newProbe(t, nil)
	keys := func(damage ResultsFault) []string {
		if p.SetFaults(nil); damage != "" {
			p.rules(Fault{Results: damage})
		}
		a := p.send("POST", indexPath, batchOf(5))
		var v struct{ Value []struct{ Key string } }
		require.NoError(t, json.Unmarshal([]byte(a.body), &v))
		var out []string
		for _, r := range v.Value {
			out = append(out, r.Key)
		}
		return out
	}
	const strangeKey = "searchtest-unknown-key"
	all := []string{"1", "2", "3", "4", "5"}
	assert.Equal(t, all, keys(""))
	assert.Equal(t, all[:4], keys(ResultsMissing))
	assert.Equal(t, append(all[:5:5], strangeKey), keys(ResultsExtra))
	assert.Equal(t, append(all[:5:5], "1"), keys(ResultsRepeated))
	assert.Equal(t, []string{strangeKey, "2", "3", "4", "5"}, keys(ResultsUnknownKey))
	shuffled := keys(ResultsShuffled)
	assert.ElementsMatch(t, all, shuffled)
	assert.NotEqual(t, all, shuffled)
	assert.EqualValues(t, 5, p.DocumentCount("types"))
}

func TestFaultRefusesDocuments(t *testing.T) {
	p := newProbe(t, nil)
	p.rules(Fault{Documents: []DocumentFault{
		{Keys: []string{"1"}, Nth: 2, Status: 409},
		{Keys: []string{"2"}, Times: 2, Status: 422},
		{Keys: []string{"3*"}},
		{Keys: []string{"4"}, Times: 1, Status: 400, Message: "No."},
	}})
	batch := `{"value":[{"id":"1"},{"id":"2"},{"id":"31"},{"id":"4"},{"id":"5"}]}`
	var got [][]int
	for range 4 {
		a := p.send("POST", indexPath, batch)
		assert.Equal(t, http.StatusMultiStatus, a.status)
		got = append(got, a.statuses(t))
	}
	assert.Equal(t, [][]int{{201, 422, 503, 400, 201}, {409, 422, 503, 201, 200}, {200, 201, 503, 200, 200}, {200, 200, 503, 200, 200}}, got)
	p.rules(Fault{Documents: []DocumentFault{{Keys: []string{"2"}}, {Keys: []string{"1"}, Status: 429}, {Keys: []string{"5"}, Status: 404, Message: "Gone."}}})
	a := p.send("POST", indexPath, batch)
	assert.Contains(t, a.body, `"errorMessage":"The search service is too busy to process this document. Please try again later."`)
	assert.Contains(t, a.body, `"errorMessage":"Document quota has been exceeded`)
	assert.Contains(t, a.body, `"errorMessage":"Gone."`)
}

func TestFaultRatioIsRepeatable(t *testing.T) {
	run := func(seed uint64) []int {
		p := newProbe(t, nil)
		p.SetFaults(&Faults{Seed: seed, Rules: []Fault{{Documents: []DocumentFault{{Ratio: 0.2}}}}})
		return p.send("POST", indexPath, batchOf(1000)).statuses(t)
	}
	first := run(7)
	refused := 0
	for _, status := range first {
		if status == 503 {
			refused++
		}
	}
	assert.InDelta(t, 200, refused, 60)
	assert.Equal(t, first, run(7))
	assert.NotEqual(t, first, run(8))
}

func TestRulesTakeTurns(t *testing.T) {
	p := newProbe(t, nil)
	turns := func(f Fault, n int) string {
		f.Status = 503
		p.rules(f)
		out := ""
		for range n {
			if p.send("GET", "/indexes", "").status == 503 {
				out += "x"
			} else {
				out += "."
			}
		}
		return out
	}
	assert.Equal(t, "xxxxxx", turns(Fault{}, 6))
	assert.Equal(t, "xx....", turns(Fault{Count: 2}, 6))
	assert.Equal(t, "..xxxx", turns(Fault{After: 2}, 6))
	assert.Equal(t, "x..x..x", turns(Fault{Every: 3}, 7))
	assert.Equal(t, ".x..x....", turns(Fault{After: 1, Every: 3, Count: 2}, 9))
	random := turns(Fault{Probability: 0.5}, 100)
	assert.InDelta(t, 50, strings.Count(random, "x"), 25)
	assert.Equal(t, random, turns(Fault{Probability: 0.5}, 100))
}

func TestFirstRuleThatMatchesIsCarriedOut(t *testing.T) {
	p := newProbe(t, nil)
	p.rules(
		Fault{Operation: OpIndexDocuments, OverActions: 3},
		Fault{Operation: OpIndexDocuments, OverBytes: 60, Status: 400},
		Fault{Index: "other*", Status: 500},
		Fault{Path: "/indexes('*')", Method: "delete", Status: 502},
		Fault{Operation: OpCountDocuments, Count: 1, Status: 503},
		Fault{Operation: OpCountDocuments, Status: 504},
	)
	assert.Equal(t, 413, p.send("POST", indexPath, batchOf(4)).status)
	assert.Equal(t, 200, p.send("POST", indexPath, batchOf(3)).status)
	assert.Equal(t, 400, p.send("POST", indexPath, `{"value":[{"id":"1","s":"`+strings.Repeat("x", 50)+`"}]}`).status)
	assert.Equal(t, 500, p.send("GET", "/indexes('other-one')", "").status)
	assert.Equal(t, 502, p.send("DELETE", "/indexes('types')", "").status)
	assert.Equal(t, 200, p.send("GET", "/indexes('types')", "").status)
	assert.Equal(t, 503, p.send("GET", "/indexes('types')/docs/$count", "").status)
	assert.Equal(t, 504, p.send("GET", "/indexes('types')/docs/$count", "").status)
}

func TestHiddenLimitsLetThroughWhatJustFits(t *testing.T) {
	p := newProbe(t, nil)
	p.rules(Fault{OverBytes: int64(len(batchOf(3)))}, Fault{OverActions: 2, Status: 400})
	assert.Equal(t, 200, p.send("POST", indexPath, batchOf(2)).status)
	assert.Equal(t, 400, p.send("POST", indexPath, batchOf(3)).status)
	a := p.send("POST", indexPath, batchOf(4))
	assert.Equal(t, 413, a.status)
	assert.NotEmpty(t, a.message())
}

func TestHiddenLimitsCountWhateverABatchBeginsWith(t *testing.T) {
	p := newProbe(t, nil)
	p.rules(Fault{OverActions: 1})
	for _, begin := range []string{`{"value"`, "\ufeff" + `{"value"`, `{"@odata.context":"","value"`, `{"\u0076alue"`} {
		assert.Equal(t, 413, p.send("POST", indexPath, begin+`:[{"id":"1"},{"id":"2"}]}`).status, begin)
		assert.Equal(t, 200, p.send("POST", indexPath, begin+`:[{"id":"1"}]}`).status, begin)
	}
}

func TestRepliesWithoutABodyLeaveTheConnectionWhole(t *testing.T) {
	p := newProbe(t, nil)
	for _, fault := range []Fault{{Status: 304}, {Status: 204}, {Operation: OpDeleteIndex, Body: BodyMalformed}, {Operation: OpDeleteIndex, Body: BodyTruncated}} {
		_ = p.CreateIndex(everyType) // where the previous request has deleted it
		p.rules(fault)
		a, err := p.try(p.request("DELETE", "/indexes('types')", ""))
		require.NoError(t, err)
		assert.Empty(t, a.body)
		assert.Empty(t, a.header.Get("Content-Length"))
	}
}

func TestFaultsDoNotHideARefusedKey(t *testing.T) {
	p := newProbe(t, nil)
	p.rules(Fault{Status: 503})
	assert.Equal(t, 403, p.send("GET", "/indexes", "", "Api-Key", "wrong").status)
}

func TestFaultDelaysAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProbe(t, nil)
		p.rules(Fault{Delay: Duration(time.Second), ReplyDelay: Duration(2 * time.Second)})
		start := time.Now()
		assert.Equal(t, 200, p.send("POST", indexPath, batchOf(1)).status)
		assert.Equal(t, 3*time.Second, time.Since(start))
	})
}

func TestOneInSoManyRequestsCanBeSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProbe(t, &Options{Latency: 10 * time.Millisecond})
		p.rules(Fault{Every: 4, Delay: Duration(990 * time.Millisecond)}) // a hundred times as long
		var took []time.Duration
		for range 6 {
			start := time.Now()
			p.send("POST", indexPath, batchOf(1))
			took = append(took, time.Since(start).Round(time.Millisecond))
		}
		const usual, spike = 10 * time.Millisecond, time.Second
		assert.Equal(t, []time.Duration{spike, usual, usual, usual, spike, usual}, took)
	})
}

func TestRuleIsInForceForItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProbe(t, nil)
		time.Sleep(time.Hour) // rule times count from SetFaults
		// statuses returns the replies' status at the seconds 0, 5, 10 …
		statuses := func(rules ...Fault) (out []int) {
			p.rules(rules...)
			for range 8 {
				out = append(out, p.send("GET", "/indexes", "").status)
				time.Sleep(5 * time.Second)
			}
			return out
		}
		assert.Equal(t, []int{503, 503, 503, 200, 200, 200, 200, 200}, statuses(Fault{Status: 503, For: Duration(15 * time.Second)}), "the fault ends after exactly 15 s")
		assert.Equal(t, []int{200, 200, 503, 503, 503, 503, 503, 503}, statuses(Fault{Status: 503, From: Duration(10 * time.Second)}), "the fault begins after exactly 10 s")
		assert.Equal(t, []int{200, 503, 503, 503, 503, 200, 200, 200}, statuses(Fault{Status: 503, From: Duration(5 * time.Second), For: Duration(20 * time.Second)}))
		assert.Equal(t, []int{429, 429, 503, 429, 429, 200, 200, 200}, statuses(
			Fault{Status: 503, From: Duration(10 * time.Second), For: Duration(time.Second)},
			Fault{Status: 429, For: Duration(25 * time.Second)}), "windows overlap: the first rule that is in force decides")
		assert.Equal(t, []int{200, 200, 200, 503, 200, 200, 503, 200}, statuses(Fault{Status: 503, From: Duration(10 * time.Second), After: 1, Every: 3}),
			"requests outside of the window are not counted")
	})
}

// Server and script may be created outside the synctest bubble, in which the year is 2000.
func TestRuleWithoutATimeIsInForceAtAnyTime(t *testing.T) {
	old := newProbe(t, &Options{Capacity: &Capacity{DocumentsPerSecond: 2}})
	old.rules(Fault{Count: 1, Status: 503})
	synctest.Test(t, func(t *testing.T) {
		p := probe{TB: t, Server: old.Server}
		assert.Equal(t, 503, p.send("POST", indexPath, batchOf(3)).status)
		assert.Equal(t, []int{201, 201, 503}, p.send("POST", indexPath, batchOf(3)).statuses(t))
		time.Sleep(time.Second)
		assert.Equal(t, []int{200, 200, 503}, p.send("POST", indexPath, batchOf(3)).statuses(t))
	})
}
