package faults

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// testimony is the service's record of a row: which requests arrived, what it decided, and what the index has. It has
// no data of the sender.
type testimony struct {
	Requests []received       `json:"requests"` // in order of arrival
	Index    map[string]state `json:"index"`
	Problems []string         `json:"problems,omitempty"` // about documents that no action wrote
	Named    int              `json:"named,omitempty"`    // see trouble.Named; the emulator has no record of these refusals
	Firewall string           `json:"firewall,omitempty"` // key of the document for which a firewall replied
	Dropped  uint64           `json:"dropped,omitempty"`  // last decision before the index was deleted; 0: not deleted
}

// received is one request as it arrived.
type received struct {
	ID      string    `json:"id"` // from the client
	Arrived time.Time `json:"arrived"`
	Ended   time.Time `json:"ended"`
	Status  int       `json:"status"` // of the reply, delivered or not
	Broken  bool      `json:"broken"` // there was no reply
	Fault   bool      `json:"fault"`  // the script changed it
	Carried []carried `json:"carried"`
}

// carried is one action in a request.
type carried struct {
	Key    string            `json:"key"`
	Action models.ActionType `json:"action"`
	Rev    int64             `json:"rev,omitempty"` // 0 for a delete, which has only a key
	Sets   fields            `json:"sets,omitempty"`
	// Status is the decision about the action, 0 if the request did not get that far. Seq is the position of the
	// decision among all decisions.
	Status int    `json:"status,omitempty"`
	Seq    uint64 `json:"seq,omitempty"`
}

func (c *carried) applied() bool { return c.Status == 200 || c.Status == 201 }

// firstApplied returns the earliest end, after t, of a request with an applied action, and whether there is one.
func (t *testimony) firstApplied(after time.Time) (first time.Time, ok bool) {
	for i := range t.Requests {
		r := &t.Requests[i]
		if !r.Ended.After(after) || ok && !r.Ended.Before(first) {
			continue
		}
		if slices.ContainsFunc(r.Carried, func(c carried) bool { return c.applied() }) {
			first, ok = r.Ended, true
		}
	}
	return first, ok
}

// mark is a header that identifies a request of the witness in the emulator's records.
const mark = "X-Witness"

// witness reads every batch on its way to the emulator.
type witness struct {
	text   *text
	number atomic.Int64

	mu       sync.Mutex // guards the fields below
	seen     map[int64][]carried
	problems []string
	earlier  []searchtest.Change // of the deleted index

	dropping sync.RWMutex // requests hold it for reading
}

func newWitness(t *text) *witness { return &witness{text: t, seen: map[int64][]carried{}} }

// intercept is for Server.Intercept.
func (w *witness) intercept(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	if req.Method != http.MethodPost || req.Body == nil {
		return next(req)
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	number := w.number.Add(1)
	req.Header.Set(mark, strconv.FormatInt(number, 10))
	req.Body = io.NopCloser(bytes.NewReader(body))
	actions, problems := w.read(body)
	w.mu.Lock()
	w.seen[number] = actions
	if len(w.problems) < maxProblems {
		w.problems = append(w.problems, problems...)
	}
	w.mu.Unlock()
	w.dropping.RLock()
	defer w.dropping.RUnlock()
	return next(req)
}

// drop deletes the index while no request is in flight, and keeps its changes.
func (w *witness) drop(srv *searchtest.Server) error {
	w.dropping.Lock()
	defer w.dropping.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.earlier = srv.Changes(indexName)
	return administer(srv, http.MethodDelete, "")
}

// read parses a request body with the standard library, independently of the project's own encoding.
func (w *witness) read(body []byte) (actions []carried, problems []string) {
	var batch struct {
		Value []struct {
			Action models.ActionType `json:"@search.action"`
			document
		} `json:"value"`
	}
	if err := json.Unmarshal(body, &batch); err != nil {
		return nil, []string{fmt.Sprintf("a body of %d bytes is not JSON: %v", len(body), err)}
	}
	for i := range batch.Value {
		v := &batch.Value[i]
		c := carried{Key: v.ID, Action: v.Action, Rev: v.Rev}
		if v.Action != models.ActionTypeDelete {
			var err error
			if c.Sets, err = w.text.sets(&v.document); err != nil {
				problems = append(problems, "on the wire: "+err.Error())
			}
		}
		actions = append(actions, c)
	}
	return actions, problems
}

// testify combines the witness's record with the emulator's. No request may be in flight.
func (w *witness) testify(srv *searchtest.Server) *testimony {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := &testimony{Index: map[string]state{}, Problems: w.problems}
	byKey := make(map[uint64]map[string]*carried) // by the emulator's request number
	records := srv.Requests()
	t.Requests = make([]received, 0, len(records))
	for i := range records {
		r := &records[i]
		number, err := strconv.ParseInt(r.Header.Get(mark), 10, 64)
		if err != nil || r.Operation != searchtest.OpIndexDocuments {
			continue
		}
		rec := received{
			ID: r.ClientRequestID, Arrived: r.Time, Ended: r.Time.Add(r.Duration),
			Status: r.Status, Broken: r.Err != nil, Fault: r.Fault, Carried: w.seen[number],
		}
		keys := make(map[string]*carried, len(rec.Carried))
		for j := range rec.Carried {
			c := &rec.Carried[j]
			if keys[c.Key] != nil {
				t.Problems = append(t.Problems, fmt.Sprintf("request %s carries document %s twice", rec.ID, c.Key))
			}
			keys[c.Key] = c
		}
		byKey[r.Seq] = keys
		t.Requests = append(t.Requests, rec)
	}
	changes := srv.Changes(indexName)
	if len(w.earlier) > 0 {
		t.Dropped = w.earlier[len(w.earlier)-1].Seq
		for i := range changes {
			changes[i].Seq += t.Dropped
		}
	}
	for _, change := range slices.Concat(w.earlier, changes) {
		c := byKey[change.Request][change.Key]
		if c == nil {
			t.Problems = append(t.Problems, fmt.Sprintf("the emulator decided on a %s of document %s in request %s, where the witness did not read it", change.Action, change.Key, change.ClientRequestID))
			continue
		}
		c.Status, c.Seq = change.Status, change.Seq
	}
	slices.SortFunc(t.Requests, func(a, b received) int { return a.Arrived.Compare(b.Arrived) })
	for key, raw := range srv.Documents(indexName) {
		var d document
		err := json.Unmarshal(raw, &d)
		s, strange := w.text.read(&d)
		if err == nil {
			err = strange
		}
		if err != nil {
			t.Problems = append(t.Problems, "in the index: "+err.Error())
		}
		t.Index[key] = s
	}
	return t
}
