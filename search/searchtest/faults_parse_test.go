package searchtest

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestScriptIsReadFromJSON(t *testing.T) {
	f, err := ParseFaults(strings.NewReader(`{
		"seed": 42,
		"rules": [
			{"operation": "indexDocuments", "overBytes": 65536},
			{"operation": "indexDocuments", "every": 7, "status": 503, "retryAfter": "2s", "retryAfterForm": "date"},
			{"operation": "indexDocuments", "probability": 0.02, "cut": "afterCommit"},
			{"operation": "indexDocuments", "from": "1m", "for": "30s", "body": "truncated", "results": "shuffled", "delay": "10ms"},
			{"operation": "indexDocuments", "documents": [{"ratio": 0.05, "status": 503}]}
		],
		"capacity": {"documentsPerSecond": 5000, "status": 503, "retryAfter": "1s"}
	}`))
	require.NoError(t, err)
	assert.EqualValues(t, 42, f.Seed)
	assert.Len(t, f.Rules, 5)
	assert.Equal(t, Duration(2*time.Second), f.Rules[1].RetryAfter)
	assert.Equal(t, Duration(time.Minute), f.Rules[3].From)
	assert.Equal(t, Duration(30*time.Second), f.Rules[3].For)
	assert.Equal(t, 0.05, f.Rules[4].Documents[0].Ratio)
	assert.Equal(t, &Capacity{DocumentsPerSecond: 5000, Status: 503, RetryAfter: Duration(time.Second)}, f.Capacity)
	text, err := json.Marshal(f)
	require.NoError(t, err)
	again, err := ParseFaults(strings.NewReader(string(text)))
	require.NoError(t, err)
	assert.Equal(t, f, again)
}

func TestScriptWithMistakesIsRefusedWithAllOfThem(t *testing.T) {
	for text, want := range map[string][]string{
		``:      {"faults script: EOF"},
		`{"ru`:  {"faults script: unexpected EOF"},
		`{} {}`: {"faults script: more than one JSON value"},
		`[]`:    {"faults script: [] is not an object"},
		`null`:  {"faults script: null is not an object"},
		`{"a":1,"b":2,"rules":[null,{"stat":1,"status":503},7]}`: {
			`faults script: unknown field "a"`, `faults script: unknown field "b"`,
			"faults script: rule 0: null is not an object", `faults script: rule 1: unknown field "stat"`, "faults script: rule 2: 7 is not an object",
		},
		`{"rules":{"status":503}}`: {`faults script: rules: {"status":503} is not a list of objects`},
		`{"capacity":5}`:           {"faults script: capacity: 5 is not an object", "faults script: capacity: does nothing without documentsPerSecond or bytesPerSecond"},
		`{"seed":-1,"rules":[{"status":503,"Status":429}]}`: {
			"faults script: seed: -1 is not a whole number", "faults script: rule 0: status: duplicate member",
		},
		`{"rules":[{"delay":5,"replyDelay":"soon","status":"503","every":1e99,"cut":true,"commit":1,"probability":"x","documents":[{"keys":"a"},{"keys":["a",7]}]}]}`: {
			`faults script: rule 0: delay: 5 is not a duration in quotes, such as "1.5s"`, `faults script: rule 0: replyDelay: "soon" is not a duration in quotes, such as "1.5s"`,
			`faults script: rule 0: status: "503" is not a whole number`, "faults script: rule 0: every: 1e99 is not a whole number",
			"faults script: rule 0: cut: true is not a string", "faults script: rule 0: commit: 1 is not true or false", `faults script: rule 0: probability: "x" is not a number`,
			`faults script: rule 0: documents 0: keys: "a" is not a list of strings`, `faults script: rule 0: documents 1: keys: ["a",7] is not a list of strings`,
		},
		`{"rules":[{"status":"` + strings.Repeat("ü", 50) + `"},{"documents":[],"cut":"half"},{}],"capacity":{"status":500,"bytesPerSecond":1}}`: {
			`faults script: rule 0: status: "` + strings.Repeat("ü", 19) + `… is not a whole number`, `faults script: rule 1: cut: "half" is unknown: use one of ["beforeCommit" "afterCommit"]`,
			"faults script: capacity: status: 500 is not 0, 429 or 503",
		},
		`{"rules":[{"documents":[]}]}`: {"faults script: rule 0: has no effect: set one of status, cut, delay, replyDelay, body, results, semantic, documents, overBytes and overActions"},
	} {
		_, err := ParseFaults(strings.NewReader(text))
		assert.Equal(t, want, linesOf(err), text)
	}
}

// In Go an unset field is zero. In a script a zero was written on purpose.
func TestZeroThatWouldMeanTheDefaultIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		`{"rules":[{"status":503,"probability":0}]}`:               "rule 0: probability: 0 would mean always",
		`{"rules":[{"status":503,"probability":0.0}]}`:             "rule 0: probability: 0.0 would mean always",
		`{"rules":[{"status":503,"probability":-0e5}]}`:            "rule 0: probability: -0e5 would mean always",
		`{"rules":[{"documents":[{"ratio":0}]}]}`:                  "rule 0: documents 0: ratio: 0 would mean every document",
		`{"rules":[{"documents":[{"nth":0}]}]}`:                    "rule 0: documents 0: nth: 0 would mean every time",
		`{"rules":[{"documents":[{"times":0}]}]}`:                  "rule 0: documents 0: times: 0 would mean no end",
		`{"rules":[{"documents":[{"status":0}]}]}`:                 "rule 0: documents 0: status: 0 would mean the default",
		`{"rules":[{"status":503,"every":0}]}`:                     "rule 0: every: 0 would mean every request",
		`{"rules":[{"status":503,"count":0}]}`:                     "rule 0: count: 0 would mean no end",
		`{"rules":[{"status":503,"for":"0s"}]}`:                    `rule 0: for: "0s" would mean no end`,
		`{"rules":[{"status":503,"overBytes":0}]}`:                 "rule 0: overBytes: 0 would mean any size",
		`{"rules":[{"status":503,"overActions":0}]}`:               "rule 0: overActions: 0 would mean any number",
		`{"rules":[{"status":503,"retryAfter":"0ms"}]}`:            `rule 0: retryAfter: "0ms" would mean no header`,
		`{"rules":[{"cut":"afterCommit","status":0}]}`:             "rule 0: status: 0 would mean the default",
		`{"capacity":{"documentsPerSecond":0,"bytesPerSecond":1}}`: "capacity: documentsPerSecond: 0 would mean no limit",
		`{"capacity":{"documentsPerSecond":1,"bytesPerSecond":0}}`: "capacity: bytesPerSecond: 0 would mean no limit",
		`{"capacity":{"documentsPerSecond":1,"status":0}}`:         "capacity: status: 0 would mean the default",
		`{"capacity":{"documentsPerSecond":1,"burst":"0s"}}`:       `capacity: burst: "0s" would mean 1s`,
	} {
		_, err := ParseFaults(strings.NewReader(text))
		assert.Equal(t, []string{"faults script: " + want + "; remove it if that is intended"}, linesOf(err), text)
	}
	for _, text := range []string{
		`{"seed":0,"rules":[{"status":503,"after":0,"from":"0s","delay":"0s","replyDelay":"0s","commit":false,"index":"","documents":[]}],"capacity":{"bytesPerSecond":1}}`,
		`{"seed":null,"rules":[{"status":503,"probability":null,"count":null}],"capacity":null}`,
		`{"rules":null}`,
	} {
		_, err := ParseFaults(strings.NewReader(text))
		assert.NoError(t, err, text)
	}
}

func FuzzParseFaults(f *testing.F) {
	f.Add(`{"seed":1,"rules":[{"operation":"indexDocuments","every":2,"status":503,"retryAfter":"1s","documents":[{"keys":["a*"],"nth":1}]}],"capacity":{"bytesPerSecond":1}}`)
	f.Add(`{"rules":[{"overActions":1,"probability":0.5,"results":"shuffled","body":"empty"}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		script, err := ParseFaults(strings.NewReader(text))
		if err != nil {
			return
		}
		for i := range script.Rules { // other tests cover waiting
			rule := &script.Rules[i]
			rule.Delay, rule.ReplyDelay = min(rule.Delay, 1), min(rule.ReplyDelay, 1)
		}
		text2, err := json.Marshal(script)
		require.NoError(t, err)
		again, err := ParseFaults(strings.NewReader(string(text2)))
		require.NoError(t, err, "a parsed script can be written and read again: %s", text2)
		require.Equal(t, script.Capacity, again.Capacity)
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
