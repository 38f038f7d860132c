package faults

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// bodyBytes is the body size of documents with about 650 bytes of JSON.
const bodyBytes = 560

// rows returns all rows of the table, in order.
func rows(s setting) []row {
	all := append(refusals(s), outages(s)...)
	all = append(all, replies(s)...)
	all = append(all, loads(s)...)
	all = append(all, blips(s)...)
	all = append(all, causes(s)...)
	all = append(all, foreign(s)...)
	all = append(all, neighbours(s)...)
	all = append(all, limits(s)...)
	for i := range all {
		r := &all[i]
		r.shape.seed = s.seed
		if r.shape.documents == 0 {
			r.shape.documents = s.documents
		}
		if r.shape.size == 0 {
			r.shape.size = bodyBytes
		}
		r.service.Actions, r.service.Longest = r.shape.documents, r.shape.size
		for _, giant := range r.shape.giants {
			r.service.Longest = max(r.service.Longest, giant)
		}
		if r.service.Faults != nil {
			r.service.Faults.Seed = s.seed
		}
		if r.limit == 0 {
			r.limit = 4 * time.Minute
		}
	}
	return all
}

func faults(rules ...searchtest.Fault) *searchtest.Faults {
	for i := range rules {
		rules[i] = batches(rules[i])
	}
	return &searchtest.Faults{Rules: rules}
}

// refusals are rows in which the service refuses requests or documents.
func refusals(s setting) []row {
	return []row{
		{
			name: "none", what: "nothing goes wrong",
		},
		{
			name: "two-429", what: "two requests in a row are answered 429",
			service:  serviceConfig{Faults: faults(searchtest.Fault{After: 2, Count: 2, Status: 429})},
			recovery: afterLastFault, needs: map[string]int{"request 429": 2},
		},
		{
			name: "eight-503", what: "eight requests in a row are answered 503; all but the first two wait for the breaker",
			service:  serviceConfig{Faults: faults(searchtest.Fault{After: 2, Count: 8, Status: 503})},
			recovery: afterLastFault, needs: map[string]int{"request 503": 8},
			limit: 6 * time.Minute,
		},
		{
			name: "413", what: fmt.Sprintf("requests above %d bytes are answered 413, a limit that the sender does not know", s.smallRequest()),
			service: serviceConfig{Faults: faults(searchtest.Fault{OverBytes: s.smallRequest()})},
			needs:   map[string]int{"request 413": 1},
		},
		{
			name: "items-429", what: "5 % of the documents are answered 429 once: the quota of the index, so they fail without a retry",
			service: serviceConfig{Faults: faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Ratio: 0.05, Times: 1, Status: 429}}})},
			needs:   map[string]int{"document 429": s.documents / 100},
			mayFail: func(_ *plan, _ action, status int) bool { return status == http.StatusTooManyRequests },
		},
		{
			name: "items-503", what: "5 % of the documents are answered 503 once",
			service: serviceConfig{Faults: faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Ratio: 0.05, Times: 1, Status: 503}}})},
			needs:   map[string]int{"document 503": s.documents / 100},
		},
		{
			name: "items-409-422", what: "5 % of the documents are answered 409 once and 5 % 422",
			service: serviceConfig{Faults: faults(searchtest.Fault{Documents: []searchtest.DocumentFault{
				{Ratio: 0.05, Times: 1, Status: 409}, {Ratio: 0.05, Times: 1, Status: 422},
			}})},
			needs: map[string]int{"document 409": s.documents / 100, "document 422": s.documents / 100},
		},
		{
			name: "giants", what: "one document of 6 MB, and one of 12 MB where requests above 8 MB are answered 413: it alone must fail",
			shape:   shape{giants: []int{6_000_000, 12_000_000}},
			service: serviceConfig{Faults: faults(searchtest.Fault{OverBytes: 8_000_000})},
			needs:   map[string]int{"request 413": 1},
			mayFail: func(_ *plan, a action, status int) bool {
				return a.size == 12_000_000 && status == http.StatusRequestEntityTooLarge
			},
		},
	}
}

// outages are rows without a working service for a while. The producers continue.
func outages(s setting) []row {
	return []row{
		{
			name: "503-for-30-s", what: "every request is answered 503 for 30 s", spread: 40 * time.Second,
			phases: []phase{
				script(4*time.Second, faults(searchtest.Fault{Status: 503})),
				script(34*time.Second, nil),
			},
			recovery: afterPhase, needs: map[string]int{"request 503": 3},
		},
		{
			name: "gone-for-60-s", what: "connections break and are refused for 60 s; the producers continue until the buffer is full",
			shape: shape{size: s.wide()}, spread: 30 * time.Second,
			phases:   []phase{steer(4*time.Second, "off"), steer(64*time.Second, "on")},
			recovery: afterPhase, needs: map[string]int{"connection broken": 3, "producers blocked": producers},
		},
		{
			name: "key-rotated", what: "every request is answered 401 for 30 s, until the client gets the new key", spread: 40 * time.Second,
			phases: []phase{
				steer(4*time.Second, "rotate"),
				{at: 34 * time.Second, over: true, do: rotateCredential},
			},
			recovery: afterPhase, needs: map[string]int{"request 401": 1},
			mayFail: func(_ *plan, _ action, status int) bool { return status == http.StatusUnauthorized },
		},
		{
			name: "hung", what: "two requests get no reply, until RequestTimeout ends them",
			service:  serviceConfig{Faults: faults(searchtest.Fault{After: 2, Every: 6, Count: 2, Delay: searchtest.Duration(time.Hour)})},
			recovery: afterLastFault, needs: map[string]int{"no reply in time": 2},
		},
		{
			name: "malformed-for-60-s", what: "every batch is applied and every reply cut short, empty or no JSON, for 60 s", spread: 70 * time.Second,
			phases: []phase{
				script(4*time.Second, faults(
					searchtest.Fault{Probability: 0.33, Body: searchtest.BodyTruncated},
					searchtest.Fault{Probability: 0.5, Body: searchtest.BodyEmpty},
					searchtest.Fault{Body: searchtest.BodyMalformed},
				)),
				script(64*time.Second, nil),
			},
			recovery: afterPhase, needs: map[string]int{"malformed reply": 3},
		},
		{
			name: "latency-x100", what: "replies take 10 ms, and 1 s each for 10 s", spread: 20 * time.Second,
			service: serviceConfig{Latency: searchtest.Duration(10 * time.Millisecond)},
			phases: []phase{
				script(4*time.Second, faults(searchtest.Fault{ReplyDelay: searchtest.Duration(s.span(time.Second))})),
				script(14*time.Second, nil),
			},
			recovery: afterPhase, needs: map[string]int{"fault": 3},
		},
	}
}

func rotateCredential(_ context.Context, r *run) error {
	r.credential.Update(secondKey)
	return nil
}

// replies are rows in which the documents are applied and the reply is lost or wrong.
func replies(s setting) []row {
	// Some results differ, so that an exchange of results is detected.
	some := []searchtest.DocumentFault{{Ratio: 0.02, Times: 1, Status: 409}}
	return []row{
		{
			name: "cut-after-commit", what: "one request in ten is applied and its connection cut instead of an answer",
			shape:   shape{documents: 5 * s.documents},
			service: serviceConfig{Faults: faults(searchtest.Fault{After: 3, Every: 10, Cut: searchtest.CutAfterCommit})},
			needs:   map[string]int{"answer lost after the batch was applied": 2},
		},
		{
			name: "wrong-results", what: "a quarter of the replies to more than ten actions lack a result, have a surplus, repeated or unknown one, or another order, and have a 409 for 2 % of the documents; one document can meet several (MaxRetries: 8)",
			shape:   shape{documents: 5 * s.documents},
			options: func(o *bufferedsender.Options[document]) { o.Retry.MaxRetries = 8 },
			service: serviceConfig{Faults: faults(
				searchtest.Fault{OverActions: 10, Probability: 0.05, Results: searchtest.ResultsMissing, Documents: some},
				searchtest.Fault{OverActions: 10, Probability: 0.05, Results: searchtest.ResultsExtra, Documents: some},
				searchtest.Fault{OverActions: 10, Probability: 0.05, Results: searchtest.ResultsRepeated, Documents: some},
				searchtest.Fault{OverActions: 10, Probability: 0.06, Results: searchtest.ResultsUnknownKey, Documents: some},
				searchtest.Fault{OverActions: 10, Probability: 0.06, Results: searchtest.ResultsShuffled, Documents: some},
			)},
			needs: map[string]int{"malformed reply": 2, "fault": 10},
		},
	}
}

// loads are rows about load and closing.
func loads(s setting) []row {
	n := s.documents
	return []row{
		{
			name: "capacity-to-a-tenth", what: fmt.Sprintf("the service takes %.0f documents/s, for 15 s a tenth of that, answering 503 to the others; producers want 80 %% of the full capacity", s.perSecond(n*5/4, 20*time.Second)),
			spread:  20 * time.Second,
			service: serviceConfig{Capacity: s.capacity(n*5/4, 20*time.Second)},
			phases: []phase{
				script(5*time.Second, &searchtest.Faults{Capacity: s.capacity(n/8, 20*time.Second)}),
				script(20*time.Second, nil),
			},
			recovery: afterPhase, needs: map[string]int{"document 503": 1},
		},
		{
			name: "producers-x10", what: fmt.Sprintf("producers want to add %.0f documents/s of %d KB and the service takes a tenth", s.perSecond(n, 2*time.Second), s.wide()/1000),
			shape: shape{size: s.wide()}, spread: 2 * time.Second,
			service: serviceConfig{Capacity: s.capacity(n, 20*time.Second)},
			needs:   map[string]int{"producers blocked": 1},
		},
		{
			name: "hot-key", what: "5 % of the actions are for one document; replies take 5 ms",
			shape:   shape{hot: 0.05},
			service: serviceConfig{Latency: searchtest.Duration(5 * time.Millisecond)},
		},
		{
			name: "close-in-the-middle", what: fmt.Sprintf("replies take 500 ms, adding waits for room in a buffer of %d actions (MaxBufferedActions), and Close, called after 2.2 s with a deadline of 300 ms, cuts a request", n/8),
			options: func(o *bufferedsender.Options[document]) { o.Limits.MaxBufferedActions = n / 8 },
			service: serviceConfig{Latency: searchtest.Duration(s.span(500 * time.Millisecond))},
			closeAt: 2200 * time.Millisecond, closeIn: 300 * time.Millisecond,
			needs: map[string]int{"unsent": 1, "producers blocked": producers, "not accepted": 1},
		},
		{
			name: "everything", what: "all kinds of faults for 45 s, in turn, 5 s of these without a service; a document can meet several of them (MaxRetries: 8), and one of 2 MB must fail",
			options: func(o *bufferedsender.Options[document]) { o.Retry.MaxRetries = 8 },
			shape:   shape{documents: 3 * n, hot: 0.01, giants: []int{2_000_000}}, spread: 50 * time.Second, // beyond the last phase, for any speed of the sender
			service: serviceConfig{Faults: misery(s)},
			phases: []phase{
				steer(35*time.Second, "off"),
				steer(40*time.Second, "on"),
				script(45*time.Second, nil),
			},
			recovery: afterPhase,
			needs:    map[string]int{"request 413": 1, "request 503": 1, "request 429": 1, "connection broken": 1, "malformed reply": 1, "document 503": 1, "document 409": 1, "document 422": 1},
			mayFail: func(_ *plan, a action, status int) bool {
				return a.size == 2_000_000 && status == http.StatusRequestEntityTooLarge
			},
		},
	}
}

// wide is the body size at which the documents of a row have three times the size of the sender's buffer.
func (s setting) wide() int { return 3 * bufferedsender.DefaultMaxBufferedBytes / s.documents }

// smallRequest is a size limit, in bytes, below that of a full batch.
func (s setting) smallRequest() int64 {
	if s.fast {
		return 500_000 * fastBatch / bufferedsender.DefaultMaxBatchActions
	}
	return 500_000
}

// capacity returns the capacity of a service that accepts the given number of documents in d.
func (s setting) capacity(documents int, d time.Duration) *searchtest.Capacity {
	return &searchtest.Capacity{DocumentsPerSecond: s.perSecond(documents, d), Burst: searchtest.Duration(s.span(time.Second))}
}

// misery returns faults of all kinds that recur throughout a run.
func misery(s setting) *searchtest.Faults {
	f := faults(
		searchtest.Fault{OverBytes: s.smallRequest()},
		searchtest.Fault{Every: 36, After: 3, Status: 503},
		searchtest.Fault{Every: 36, After: 8, Body: searchtest.BodyMalformed},
		searchtest.Fault{Every: 36, After: 13, Status: 429, RetryAfter: searchtest.Duration(s.span(time.Second)), RetryAfterForm: searchtest.RetryAfterMS},
		searchtest.Fault{Every: 36, After: 18, Cut: searchtest.CutAfterCommit},
		searchtest.Fault{Every: 36, After: 23, Cut: searchtest.CutBeforeCommit},
		searchtest.Fault{Every: 36, After: 28, Results: searchtest.ResultsMissing},
		searchtest.Fault{Every: 36, After: 30, ReplyDelay: searchtest.Duration(s.span(2 * time.Second))},
		searchtest.Fault{Every: 4, Documents: []searchtest.DocumentFault{
			{Ratio: 0.01, Times: 2, Status: 503}, {Ratio: 0.01, Times: 2, Status: 409}, {Ratio: 0.01, Times: 2, Status: 422},
		}},
	)
	f.Seed = s.seed
	return f
}
