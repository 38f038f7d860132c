package faults

import (
	"net/http"
	"time"

	"github.com/go-azsearch/azsearch/search/searchtest"
)

// limits are rows about limits of the service or of proxies, and about the replies that report them.
func limits(s setting) []row {
	const named = 20
	urgent := shape{giants: []int{2 * bodyBytes}}
	return []row{
		{
			name: "cut-over-256k", what: "a proxy breaks the connections of requests above 256 kB, without an answer; 2000 documents of 6 kB",
			shape:   shape{documents: 2000, size: 6000},
			service: serviceConfig{Faults: faults(searchtest.Fault{OverBytes: 256_000, Cut: searchtest.CutBeforeCommit})},
			needs:   map[string]int{"connection broken": 1}, mostRequests: 200, limit: 20 * time.Second,
		},
		{
			name: "date-of-another-clock", what: "every request is answered 503 for 5 s, with a date in a second as Retry-After, by a clock that is an hour ahead", spread: 9 * time.Second,
			service:  serviceConfig{Trouble: trouble{Clock: searchtest.Duration(time.Hour)}},
			phases:   []phase{script(2*time.Second, faults(searchtest.Fault{Status: 503})), script(7*time.Second, nil)},
			recovery: afterPhase, needs: map[string]int{"request 503": 1}, limit: time.Minute,
		},
		{
			name: "named-positions", what: "one document in twenty is invalid; a request with some of them is refused, and the reply names them: only they may fail",
			shape:   shape{once: true},
			service: serviceConfig{Trouble: trouble{Named: named}},
			needs:   map[string]int{"request 400": 1}, mostRequests: int64(20 + 5*s.documents/s.full()),
			mayFail: func(_ *plan, a action, status int) bool { return a.key%named == 0 && status == http.StatusBadRequest },
		},
		{
			name: "quota", what: "every document is answered 429 for 5 s, as the index is full; few fail until the index is found to be the cause, and the others wait", spread: 9 * time.Second,
			phases: []phase{
				script(2*time.Second, faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Ratio: 1, Status: http.StatusTooManyRequests}}})),
				script(7*time.Second, nil),
			},
			recovery: afterPhase, needs: map[string]int{"document 429": 20},
			mayFail: mayFailFew(http.StatusTooManyRequests),
		},
		{
			name: "quota-storage", what: "every request is answered 403 for 5 s, with the message that the quota of storage is used up; all documents wait", spread: 9 * time.Second,
			phases: []phase{
				script(2*time.Second, faults(searchtest.Fault{Status: http.StatusForbidden, Message: "Storage quota has been exceeded for this service."})),
				script(7*time.Second, nil),
			},
			recovery: afterPhase, needs: map[string]int{"request 403": 1},
		},
		{
			name: "scaled", what: "the service is scaled: every request is answered 503 for 2 s, then it takes a quarter of what the producers want for 4 s, then twice as much", spread: 12 * time.Second,
			phases: []phase{
				script(2*time.Second, faults(searchtest.Fault{Status: 503})),
				script(4*time.Second, &searchtest.Faults{Capacity: s.capacity(s.documents/4, 12*time.Second)}),
				script(8*time.Second, &searchtest.Faults{Capacity: s.capacity(2*s.documents, 12*time.Second)}),
				script(10*time.Second, nil),
			},
			recovery: afterPhase, needs: map[string]int{"request 503": 1, "document 503": 1}, recoverWithin: 10 * time.Second,
		},
		{
			name: "recreated", what: "the index is deleted, and 5 s later created again under the same name, empty", spread: 9 * time.Second,
			shape:    shape{once: true},
			phases:   []phase{steer(2*time.Second, "drop"), steer(7*time.Second, "mend")},
			recovery: afterPhase, needs: map[string]int{"request 404": 1},
		},
		{
			name: "urgent-bad", what: "a document of an Expedited producer breaks the connection of every request with it, and connections are refused for 2 s; the other producers are BestEffort: only that document may fail",
			shape: urgent, urgent: true, spread: 6 * time.Second, limit: 3 * time.Minute,
			service:  serviceConfig{Trouble: trouble{Poison: s.giantKey(urgent)}},
			phases:   []phase{steer(2*time.Second, "off"), steer(4*time.Second, "on")},
			recovery: afterPhase, needs: map[string]int{"connection broken": 2}, mayFail: thePoisonFails,
		},
	}
}
