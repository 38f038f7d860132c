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

// rules puts rules in force.
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
	assert.EqualValues(t, 1, p.DocumentCount("types"), "commit carries it out all the same")
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
		assert.Equal(t, "1500", header(XMSRetryAfterMS).Get("x-ms-retry-after-ms"))
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
		p.rules(Fault{Body: damage})
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
		p.rules(Fault{Results: damage})
		a := p.send("POST", indexPath, batchOf(5))
		var v struct{ Value []struct{ Key string } }
		require.NoError(t, json.Unmarshal([]byte(a.body), &v))
		var out []string
		for _, r := range v.Value {
			out = append(out, r.Key)
		}
		return out
	}
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
		_ = p.CreateIndex(everyType) // where the one before has deleted it
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

func TestScriptIsReadFromJSON(t *testing.T) {
	f, err := ParseFaults(strings.NewReader(`{
		"seed": 42,
		"rules": [
			{"operation": "indexDocuments", "overBytes": 65536},
			{"operation": "indexDocuments", "every": 7, "status": 503, "retryAfter": "2s", "retryAfterForm": "date"},
			{"operation": "indexDocuments", "probability": 0.02, "cut": "afterCommit"},
			{"operation": "indexDocuments", "body": "truncated", "results": "shuffled", "delay": "10ms"},
			{"operation": "indexDocuments", "documents": [{"ratio": 0.05, "status": 503}]}
		],
		"capacity": {"documentsPerSecond": 5000, "reply": 503, "retryAfter": "1s"}
	}`))
	require.NoError(t, err)
	assert.EqualValues(t, 42, f.Seed)
	assert.Len(t, f.Rules, 5)
	assert.Equal(t, Duration(2*time.Second), f.Rules[1].RetryAfter)
	assert.Equal(t, 0.05, f.Rules[4].Documents[0].Ratio)
	text, err := json.Marshal(f)
	require.NoError(t, err)
	again, err := ParseFaults(strings.NewReader(string(text)))
	require.NoError(t, err)
	assert.Equal(t, f, again)
}

func TestScriptWithMistakesIsRefusedWithAllOfThem(t *testing.T) {
	for text, want := range map[string][]string{
		``:                        {"EOF"},
		`{"rules":[{"stat":1}]}`:  {"unknown field"},
		`{} {}`:                   {"more than one"},
		`{"rules":[{"delay":5}]}`: {"cannot unmarshal"},
		`{"rules":[{"operation":"indexing","probability":2,"status":42,"cut":"half"},{"retryAfterForm":"x","body":"y","results":"z","path":"[","commit":true,"count":-1}],
			"capacity":{"reply":500}}`: {"rule 0", "unknown operation", "probability", "status 42", "unknown cut", "rule 1", "unknown retryAfterForm", "unknown body", "unknown results", `pattern "["`, "commit needs", "negative", "capacity"},
		`{"rules":[{"cut":"afterCommit","status":500,"documents":[{"ratio":-1,"status":200,"nth":-1,"keys":["["]}]}],"capacity":{"burst":"-1s"}}`: {"cut and answer", "ratio", "status 200", "documents 0: numbers", "documents 0: pattern", "capacity"},
	} {
		_, err := ParseFaults(strings.NewReader(text))
		require.Error(t, err, text)
		for _, part := range want {
			assert.ErrorContains(t, err, part)
		}
	}
	assert.Panics(t, func() { NewServer(nil).SetFaults(&Faults{Rules: []Fault{{Status: 1}}}) })
}

func FuzzParseFaults(f *testing.F) {
	f.Add(`{"seed":1,"rules":[{"operation":"indexDocuments","every":2,"status":503,"retryAfter":"1s","documents":[{"keys":["a*"],"nth":1}]}],"capacity":{"bytesPerSecond":1}}`)
	f.Add(`{"rules":[{"overActions":1,"probability":0.5,"results":"shuffled","body":"empty"}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		script, err := ParseFaults(strings.NewReader(text))
		if err != nil {
			return
		}
		for i := range script.Rules { // waiting is tested elsewhere
			script.Rules[i].Delay, script.Rules[i].ReplyDelay = 0, 0
		}
		p := newProbe(t, nil)
		p.SetFaults(script)
		for range 3 {
			if resp, err := p.Do(p.request("POST", indexPath, batchOf(3))); err == nil {
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
			}
		}
	})
}

func TestCapacityRefusesDocumentsThatAreTooMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProbe(t, &Options{Capacity: &Capacity{DocumentsPerSecond: 10}})
		refused := func(n int) (refused int) {
			a := p.send("POST", indexPath, batchOf(n))
			for _, status := range a.statuses(t) {
				if status == 503 {
					refused++
				}
			}
			return refused
		}
		assert.Equal(t, 5, refused(15), "a full bucket holds one second")
		assert.Equal(t, 1, refused(1))
		time.Sleep(500 * time.Millisecond)
		assert.Equal(t, 2, refused(7))
		time.Sleep(time.Hour)
		assert.Equal(t, 1, refused(11), "rest fills it no further")
	})
}

func TestCapacityRefusesWholeRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, status := range []int{429, 503} {
			p := newProbe(t, nil)
			p.SetFaults(&Faults{Capacity: &Capacity{DocumentsPerSecond: 10, Burst: Duration(2 * time.Second), Reply: status, RetryAfter: Duration(time.Second)}})
			assert.Equal(t, 200, p.send("POST", indexPath, batchOf(15)).status)
			a := p.send("POST", indexPath, batchOf(6))
			assert.Equal(t, status, a.status)
			assert.Equal(t, "1", a.header.Get("Retry-After"))
			time.Sleep(100 * time.Millisecond)
			assert.Equal(t, 200, p.send("POST", indexPath, batchOf(6)).status)
		}
	})
}

func TestCapacityInBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProbe(t, &Options{Capacity: &Capacity{BytesPerSecond: 100}})
		document := func(key string) string { return fmt.Sprintf(`{"id":"%s","s":"%s"}`, key, strings.Repeat("x", 33)) } // 50 bytes
		require.Len(t, document("1"), 50)
		assert.Equal(t, []int{201, 201, 503}, p.index(document("1"), document("2"), document("3")).statuses(t))
		time.Sleep(500 * time.Millisecond)
		assert.Equal(t, []int{201, 503}, p.index(document("3"), document("4")).statuses(t))
	})
}

// A document or a request larger than a full bucket must not wait for ever.
func TestCapacityLetsThroughWhatCouldNeverFit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProbe(t, &Options{Capacity: &Capacity{DocumentsPerSecond: 10, Reply: 503}})
		assert.Equal(t, 200, p.send("POST", indexPath, batchOf(30)).status)
		time.Sleep(2 * time.Second)
		assert.Equal(t, 503, p.send("POST", indexPath, batchOf(1)).status, "it is paid for afterwards")
		time.Sleep(200 * time.Millisecond)
		assert.Equal(t, 200, p.send("POST", indexPath, batchOf(1)).status)
	})
}
