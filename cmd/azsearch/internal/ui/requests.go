package ui

import (
	"cmp"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-azsearch/azsearch/internal/webpage"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// maxSeq is the maximum sequence number in a query.
const maxSeq = math.MaxInt64

// requestLine is one line of the request log.
type requestLine struct {
	Seq       uint64    `json:"seq"`
	Time      time.Time `json:"time"`
	Millis    float64   `json:"ms"` // until the reply
	Method    string    `json:"method"`
	Path      string    `json:"path"` // decoded, without the query string
	Operation string    `json:"operation"`
	Index     string    `json:"index"`
	Actions   int       `json:"actions"`
	Status    int       `json:"status"` // set even if the reply was not delivered
	Fault     bool      `json:"fault"`
	// Error is the reason if there was no reply.
	Error string `json:"error,omitempty"`
}

func lineOf(rec *searchtest.RequestRecord) requestLine {
	line := requestLine{
		Seq: rec.Seq, Time: rec.Time, Millis: float64(rec.Duration) / float64(time.Millisecond),
		Method: rec.Method, Path: rec.URL, Operation: string(rec.Operation), Index: rec.Index,
		Actions: rec.Actions, Status: rec.Status, Fault: rec.Fault,
	}
	if u, err := url.Parse(rec.URL); err == nil {
		line.Path = u.Path
	}
	if rec.Err != nil {
		line.Error = rec.Err.Error()
	}
	return line
}

// requestsAfter returns the requests answered after request seq, oldest first. If that request is no longer in the
// log, it returns all and true: the reader may have missed some.
func (p *Page) requestsAfter(seq uint64) ([]requestLine, bool) {
	records := p.srv.Requests()
	// Records are in the order of replies, sequence numbers in the order of arrival.
	known := slices.IndexFunc(records, func(r searchtest.RequestRecord) bool { return r.Seq == seq })
	records = records[known+1:]
	lines := make([]requestLine, len(records))
	for i := range records {
		lines[i] = lineOf(&records[i])
	}
	return lines, known < 0
}

// requestDetails has everything known about a request.
type requestDetails struct {
	requestLine
	URL             string   `json:"url"`
	RequestID       string   `json:"requestId"`
	ClientRequestID string   `json:"clientRequestId,omitempty"`
	Headers         []header `json:"headers"` // sorted by name, without keys and tokens
	BodyBytes       int64    `json:"bodyBytes"`
	Body            string   `json:"body"` // its beginning
}

type header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func (p *Page) request(w http.ResponseWriter, r *http.Request) {
	records := p.srv.Requests()
	i := slices.IndexFunc(records, func(rec searchtest.RequestRecord) bool { return strconv.FormatUint(rec.Seq, 10) == r.PathValue("seq") })
	if i < 0 {
		webpage.Refuse(w, http.StatusNotFound, "the request is not in the log, or not any more")
		return
	}
	rec := &records[i]
	details := requestDetails{
		requestLine: lineOf(rec), URL: rec.URL, RequestID: rec.RequestID, ClientRequestID: rec.ClientRequestID,
		Headers: []header{}, BodyBytes: rec.BodyBytes, Body: strings.ToValidUTF8(string(rec.Body), "\ufffd"),
	}
	for name, values := range rec.Header {
		for _, value := range values {
			details.Headers = append(details.Headers, header{name, value})
		}
	}
	slices.SortStableFunc(details.Headers, func(a, b header) int { return cmp.Compare(a.Name, b.Name) })
	webpage.WriteJSON(w, http.StatusOK, details)
}
