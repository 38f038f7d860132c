package searchtest

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func linesOf(err error) []string {
	if err == nil {
		return nil
	}
	return strings.Split(err.Error(), "\n")
}

// Each rule has one problem and follows an unrelated rule in its script.
func TestRulesThatCanDoNothingAreRefused(t *testing.T) {
	const second = Duration(time.Second)
	some := []DocumentFault{{Keys: []string{"a"}}}
	for want, rule := range map[string]Fault{
		"has no effect: set one of status, cut, delay, replyDelay, body, results, semantic, documents, overBytes and overActions": {Operation: OpGetIndex, Every: 2},

		"code: does nothing without a status":       {Delay: second, Code: "Broken"},
		"message: does nothing without a status":    {Message: "It is broken."},
		"commit: does nothing without a status":     {Commit: true},
		"retryAfter: does nothing without a status": {OverBytes: 5, Body: BodyMalformed, RetryAfter: second},

		"code: does nothing with status 201, which has no body":    {Status: 201, Code: "Broken"},
		"message: does nothing with status 304, which has no body": {Status: 304, Message: "It is broken."},
		"body: does nothing with status 204, which has no body":    {Status: 204, Body: BodyMalformed},
		"body: does nothing with status 200, which has no body":    {Status: 200, Body: BodyTruncated},
		"body: does nothing with status 202, which has no body":    {Status: 202, Body: BodyEmpty},

		"results: does nothing with a status, which is answered instead":                     {Status: 503, Results: ResultsMissing},
		"documents: does nothing with a status, unless commit carries the request out":       {Status: 503, Documents: some},
		"retryAfterForm: does nothing without retryAfter":                                    {Status: 503, RetryAfterForm: RetryAfterDate},
		"status: does nothing when the connection is cut":                                    {Cut: CutAfterCommit, Status: 503},
		"replyDelay: does nothing when the connection is cut":                                {Cut: CutAfterCommit, ReplyDelay: second},
		"body: does nothing when the connection is cut":                                      {Cut: CutAfterCommit, Body: BodyEmpty},
		"results: does nothing when the connection is cut":                                   {Cut: CutAfterCommit, Results: ResultsMissing},
		"documents: does nothing when the connection is cut before the commit":               {Cut: CutBeforeCommit, Documents: some},
		"method: no request for deleteIndex is a GET":                                        {Operation: OpDeleteIndex, Method: "GET", Status: 503},
		"index: requests for listIndexes contain no index":                                   {Operation: OpListIndexes, Index: "a*", Status: 503},
		`path: "indexes*" matches no path: paths begin with /, which * and ? do not match`:   {Path: "indexes*", Status: 503},
		`path: "*" matches no path: paths begin with /, which * and ? do not match`:          {Path: "*", Status: 503},
		"documents 0: nth: 3 is never reached, because times is 2":                           {Documents: []DocumentFault{{Nth: 3, Times: 2}}},
		`documents 0: keys: no key is "": leave keys out for all`:                            {Documents: []DocumentFault{{Keys: []string{""}}}},
		"documents 2: is never reached, because documents 1 takes every document":            {Documents: []DocumentFault{{Times: 1}, {Ratio: 1}, {Status: 409}}},
		"is never reached, because rule 0 takes every request that it matches":               {Operation: OpGetIndex, Index: "first", Status: 404},
		`operation: "fly" is unknown: use one of ["analyze" "autocomplete" "countDocuments"`: {Operation: "fly", Status: 503},
		`method: "FLY" is unknown: use one of ["GET" "POST" "PUT" "DELETE" "PATCH" "HEAD" `:  {Method: "fly", Status: 503},
		`path: pattern "/[": syntax error in pattern`:                                        {Path: "/[", Status: 503},
		`index: pattern "a[": syntax error in pattern`:                                       {Index: "a[", Status: 503},
		`documents 0: keys: pattern "[": syntax error in pattern`:                            {Documents: []DocumentFault{{Keys: []string{"a", "["}}}},
		"overActions: does nothing, because only batches have them: operation must be index": {Operation: OpGetIndex, OverActions: 1},
		"results: does nothing, because only batches have them: operation must be indexDocu": {Operation: OpGetIndex, Results: ResultsExtra},
		"documents: does nothing, because only batches have them: operation must be indexDo": {Operation: OpGetIndex, Documents: some},

		`retryAfterForm: "x" is unknown: use one of ["seconds" "date" "retry-after-ms" "x-ms-retry-after-ms"]`: {Status: 503, RetryAfter: 1, RetryAfterForm: "x"},
		`cut: "x" is unknown: use one of ["beforeCommit" "afterCommit"]`:                                       {Cut: "x"},
		`body: "x" is unknown: use one of ["truncated" "malformed" "empty"]`:                                   {Body: "x"},
		`results: "x" is unknown: use one of ["missing" "extra" "repeated" "shuffled" "unknownKey"]`:           {Results: "x"},
		"overBytes: -1 is negative":                            {Status: 503, OverBytes: -1},
		"overActions: -1 is negative":                          {Status: 503, OverActions: -1},
		"from: -1s is negative":                                {Status: 503, From: -second},
		"for: -1s is negative":                                 {Status: 503, For: -second},
		"after: -1 is negative":                                {Status: 503, After: -1},
		"every: -1 is negative":                                {Status: 503, Every: -1},
		"count: -1 is negative":                                {Status: 503, Count: -1},
		"delay: -1s is negative":                               {Delay: -second},
		"replyDelay: -1s is negative":                          {ReplyDelay: -second},
		"retryAfter: -1s is negative":                          {Status: 503, RetryAfter: -second},
		"probability: -0.1 is not between 0 and 1":             {Status: 503, Probability: -0.1},
		"probability: 1.5 is not between 0 and 1":              {Status: 503, Probability: 1.5},
		"probability: NaN is not between 0 and 1":              {Status: 503, Probability: math.NaN()},
		"status: 199 is not between 200 and 599":               {Status: 199},
		"status: 600 is not between 200 and 599":               {Status: 600},
		"documents 0: ratio: -1 is not between 0 and 1":        {Documents: []DocumentFault{{Ratio: -1}}},
		"documents 0: ratio: 2 is not between 0 and 1":         {Documents: []DocumentFault{{Ratio: 2}}},
		"documents 0: nth: -1 is negative":                     {Documents: []DocumentFault{{Nth: -1}}},
		"documents 0: times: -1 is negative":                   {Documents: []DocumentFault{{Times: -1}}},
		"documents 0: status: 200 is not between 300 and 599":  {Documents: []DocumentFault{{Status: 200}}},
		"documents 0: status: 299 is not between 300 and 599":  {Documents: []DocumentFault{{Status: 299}}},
		"documents 0: status: 600 is not between 300 and 599":  {Documents: []DocumentFault{{Status: 600}}},
		"documents 1: status: 1000 is not between 300 and 599": {Documents: []DocumentFault{{Times: 1}, {Status: 1000}}},
	} {
		f := Faults{Rules: []Fault{{Index: "first", Status: 500}, rule}}
		got := linesOf(f.Validate())
		require.Len(t, got, 1, "%s: %q", want, got)
		assert.True(t, strings.HasPrefix(got[0], "faults script: rule 1: "+want), "%s\n%s", want, got[0])
		assert.Panics(t, func() { NewServer(nil).SetFaults(&f) }, want)
	}
}

func TestCapacitiesThatCanDoNothingAreRefused(t *testing.T) {
	const second = Duration(time.Second)
	for want, c := range map[string]Capacity{
		"does nothing without documentsPerSecond or bytesPerSecond":                                            {Burst: second},
		"documentsPerSecond: -1 is not between 0 and 1e+15":                                                    {DocumentsPerSecond: -1},
		"bytesPerSecond: NaN is not between 0 and 1e+15":                                                       {BytesPerSecond: math.NaN()},
		"bytesPerSecond: +Inf is not between 0 and 1e+15":                                                      {BytesPerSecond: math.Inf(1)},
		"burst: -1s is negative":                                                                               {BytesPerSecond: 1, Burst: -second},
		"status: 500 is not 0, 429 or 503":                                                                     {BytesPerSecond: 1, Status: 500},
		"retryAfter: does nothing without a status of 429 or 503":                                              {BytesPerSecond: 1, RetryAfter: second},
		"retryAfter: -1s is negative":                                                                          {BytesPerSecond: 1, Status: 503, RetryAfter: -second},
		"retryAfterForm: does nothing without retryAfter":                                                      {BytesPerSecond: 1, Status: 503, RetryAfterForm: RetryAfterDate},
		`retryAfterForm: "x" is unknown: use one of ["seconds" "date" "retry-after-ms" "x-ms-retry-after-ms"]`: {BytesPerSecond: 1, Status: 503, RetryAfter: second, RetryAfterForm: "x"},
	} {
		got := linesOf((&Faults{Capacity: &c}).Validate())
		assert.Equal(t, []string{"faults script: capacity: " + want}, got)
	}
}

// These rules resemble the ones above but are valid.
func TestRulesThatDoSomethingAreTaken(t *testing.T) {
	const second = Duration(time.Second)
	some := []DocumentFault{{Keys: []string{"a"}}}
	for name, rules := range map[string][]Fault{
		"a message for the status of a limit":            {{OverBytes: 5, Message: "No.", Code: "TooLarge", RetryAfter: second, RetryAfterForm: RetryAfterDate}},
		"a limit that is committed anyway":               {{OverActions: 5, Commit: true}},
		"a limit and from when on":                       {{OverActions: 5, From: second, For: second}},
		"a status without a body, and a header":          {{Status: 204, RetryAfter: second}},
		"malformed with status 200":                      {{Status: 200, Body: BodyMalformed}},
		"an error whose body is cut":                     {{Status: 503, Body: BodyTruncated}},
		"documents refused, and then the request":        {{Status: 503, Commit: true, Documents: some}},
		"documents refused, and the answer lost":         {{Cut: CutAfterCommit, Documents: some}},
		"a delay before a cut":                           {{Cut: CutBeforeCommit, Delay: second}},
		"a method in lower case":                         {{Operation: OpDeleteIndex, Method: "delete", Status: 503}},
		"no index, explicitly any":                       {{Operation: OpListIndexes, Index: "*", Status: 503}},
		"paths by pattern":                               {{Path: "*/indexes", Status: 503}, {Path: "[^a]indexes", Status: 503}, {Path: `\/indexes`, Status: 503}},
		"the third and the last time":                    {{Documents: []DocumentFault{{Nth: 3, Times: 3}}}},
		"a second rule for the rest of the first":        {{Documents: []DocumentFault{{Keys: []string{"a"}}, {Ratio: 0.5}, {Nth: 1}, {Times: 1}, {}}}},
		"the ends of the ranges":                         {{Probability: 1, Status: 200, Every: 2}, {Status: 599, Documents: []DocumentFault{{Status: 300, Ratio: 1}}, Commit: true}},
		"a failure of the ranking leaves plain searches": {{Operation: OpSearch, Semantic: SemanticTransient}, {Operation: OpSearch, Status: 503}},
		"every rule leaves something to the next": {
			{Operation: OpIndexDocuments, Status: 503}, {Method: "GET", Status: 503}, {Path: "/a", Status: 503}, {Index: "a", Status: 503},
			{OverBytes: 10, Status: 503}, {OverActions: 10, Status: 503}, {From: second, Status: 503}, {For: second, Status: 503},
			{After: 1, Status: 503}, {Every: 2, Status: 503}, {Probability: 0.5, Status: 503}, {Count: 1, Status: 503},
			{OverBytes: 9, Status: 503}, {OverActions: 9, Status: 503}, {Status: 503},
		},
	} {
		assert.NoError(t, (&Faults{Rules: rules}).Validate(), name)
	}
	assert.NoError(t, (&Faults{Capacity: &Capacity{BytesPerSecond: 1e15, Status: 429, RetryAfter: second, RetryAfterForm: RetryAfterDate}}).Validate())
	assert.NoError(t, new(Faults).Validate())
}

// A rule is unreachable if an earlier rule covers all its requests.
func TestRuleBehindAWiderOneIsRefused(t *testing.T) {
	narrow := Fault{Operation: OpIndexDocuments, Method: "post", Path: "/a", Index: "a", OverBytes: 10, OverActions: 10, From: 1, After: 1, Status: 503}
	for _, wide := range []Fault{
		{}, {Operation: OpIndexDocuments}, {Method: "POST"}, {Path: "/a"}, {Index: "a"}, {OverBytes: 10}, {OverActions: 9},
		{Every: 1, Probability: 1},
	} {
		wide.Status = 500
		err := (&Faults{Rules: []Fault{wide, narrow, wide}}).Validate()
		assert.Equal(t, []string{
			"faults script: rule 1: is never reached, because rule 0 takes every request that it matches",
			"faults script: rule 2: is never reached, because rule 0 takes every request that it matches",
		}, linesOf(err))
	}
}

func TestEveryProblemOfAScriptIsReportedAtOnce(t *testing.T) {
	err := (&Faults{
		Rules:    []Fault{{Status: 1, Every: -1, Count: 1, Documents: []DocumentFault{{Ratio: 2}, {Nth: -1}}}, {}, {Cut: "x", Message: "y"}},
		Capacity: &Capacity{Status: 1},
	}).Validate()
	var joined interface{ Unwrap() []error }
	require.True(t, errors.As(err, &joined))
	assert.Len(t, joined.Unwrap(), 11, err)
	for _, part := range []string{"rule 0: status", "rule 0: every", "rule 0: documents 0: ratio", "rule 0: documents 1: nth", "rule 1: has no effect", "rule 2: cut", "rule 2: message", "rule 2: is never reached", "capacity: status", "capacity: does nothing"} {
		assert.ErrorContains(t, err, part)
	}
}
