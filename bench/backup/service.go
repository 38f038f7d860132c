package backup

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-azsearch/azsearch/bench/internal/child"
	"github.com/go-azsearch/azsearch/bench/internal/cli"
	"github.com/go-azsearch/azsearch/bench/internal/slow"
)

const definition = `{"name":"hotels","fields":[{"name":"id","type":"Edm.String","key":true,"filterable":true,"sortable":true},{"name":"name","type":"Edm.String"},{"name":"description","type":"Edm.String"}]}`

// serviceTask configures the service process.
type serviceTask struct {
	Documents int
	Latency   time.Duration
	Full      bool // all documents exist at the start
}

// serve runs the service in its own process, so that its processor time is separate from that of azsearch.
func serve(ctx context.Context, text []byte, s cli.Streams) error {
	var t serviceTask
	if err := json.Unmarshal(text, &t); err != nil {
		return err
	}
	return child.Serve(ctx, s, newIndex(t))
}

// index is a service with one index of documents with the keys 00000000, 00000001 and so on. Its pages are prepared
// except for the keys. It counts uploaded documents.
type index struct {
	serviceTask
	has      atomic.Int64
	uploaded []atomic.Bool // by document number
	pages    sync.Pool     // of *[]byte, with most documents

	requests    atomic.Int64
	nanoseconds atomic.Int64 // total duration of the requests
}

// counts are the number of documents in the index and of its requests.
type counts struct {
	Has      int64
	Requests int64
	Seconds  float64 // total duration of the requests
}

const (
	countsPath = "/counts"
	most       = 1000 // documents in a page
	beforeKey  = `{"@search.score":1,"id":"`
	keyDigits  = 8
)

var (
	rest     = `"name":"Hotel","description":"` + strings.Repeat("close to the river and quiet at night ", 16) + `"}`
	document = beforeKey + strings.Repeat("0", keyDigits) + `",` + rest
	envelope = []byte(`{"value":[`)
)

func newIndex(t serviceTask) *index {
	x := &index{serviceTask: t, uploaded: make([]atomic.Bool, t.Documents)}
	if t.Full {
		x.has.Store(int64(t.Documents))
	}
	x.pages.New = func() any {
		page := append(envelope[:len(envelope):len(envelope)], strings.Repeat(document+",", most)...)
		return &page
	}
	return x
}

var condition = regexp.MustCompile(`id (g[te]|le) '([^']*)'`)

func (x *index) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Path == countsPath {
		_ = json.NewEncoder(w).Encode(counts{x.has.Load(), x.requests.Load(), time.Duration(x.nanoseconds.Load()).Seconds()})
		return
	}
	began := time.Now()
	defer func() {
		x.requests.Add(1)
		x.nanoseconds.Add(int64(time.Since(began)))
	}()
	if slow.Wait(r.Context(), x.Latency) != nil {
		return
	}
	switch path := r.URL.Path; {
	case path == "/indexes":
		fmt.Fprintf(w, `{"value":[%s]}`, definition)
	case path == "/indexes('hotels')":
		fmt.Fprint(w, definition)
	case strings.HasSuffix(path, "/$count"):
		fmt.Fprint(w, x.has.Load())
	case strings.HasSuffix(path, "/docs/search.post.search"):
		x.search(w, r)
	case strings.HasSuffix(path, "/docs/search.index"):
		x.upload(w, r)
	default:
		fmt.Fprint(w, `{"value":[]}`)
	}
}

func (x *index) search(w http.ResponseWriter, r *http.Request) {
	var query struct {
		Filter, Select string
		Skip, Top      int
	}
	if err := json.NewDecoder(r.Body).Decode(&query); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	first, behind := 0, int(x.has.Load())
	for _, c := range condition.FindAllStringSubmatch(query.Filter, -1) {
		key, _ := strconv.Atoi(c[2])
		switch c[1] {
		case "ge":
			first = key
		case "gt":
			first = key + 1
		case "le":
			behind = min(behind, key+1)
		}
	}
	first += query.Skip
	n := max(0, min(behind-first, query.Top, most))
	if query.Select == "id" && n == 1 {
		fmt.Fprintf(w, `{"value":[%s%0*d"}]}`, beforeKey, keyDigits, first)
		return
	}
	page := x.pages.Get().(*[]byte)
	defer x.pages.Put(page)
	for i := range n {
		key := (*page)[len(envelope)+i*(len(document)+1)+len(beforeKey):][:keyDigits]
		for number, at := first+i, keyDigits-1; at >= 0; number, at = number/10, at-1 {
			key[at] = '0' + byte(number%10)
		}
	}
	size := len(envelope) + max(0, n*(len(document)+1)-1) // without the last comma
	w.Header().Set("Content-Length", strconv.Itoa(size+len("]}")))
	_, _ = w.Write((*page)[:size])
	_, _ = io.WriteString(w, "]}")
}

// bodies pools the buffers of requests and their replies.
var bodies = sync.Pool{New: func() any { return new([2]bytes.Buffer) }}

func (x *index) upload(w http.ResponseWriter, r *http.Request) {
	memory := bodies.Get().(*[2]bytes.Buffer)
	defer bodies.Put(memory)
	body, reply := &memory[0], &memory[1]
	body.Reset()
	reply.Reset()
	body.Grow(int(max(0, r.ContentLength)) + bytes.MinRead)
	if _, err := body.ReadFrom(r.Body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	reply.Write(envelope)
	for text := body.Bytes(); ; {
		_, after, ok := bytes.Cut(text, []byte(`"id":"`))
		if !ok {
			break
		}
		number, err := strconv.Atoi(string(after[:min(keyDigits, len(after))]))
		if err != nil || number >= x.Documents {
			http.Error(w, "unknown key", http.StatusBadRequest)
			return
		}
		if !x.uploaded[number].Swap(true) {
			x.has.Add(1)
		}
		if reply.Len() > len(envelope) {
			reply.WriteByte(',')
		}
		reply.WriteString(`{"key":"`)
		reply.Write(after[:keyDigits])
		reply.WriteString(`","status":true,"errorMessage":null,"statusCode":201}`)
		text = after[keyDigits:]
	}
	reply.WriteString(`]}`)
	w.Header().Set("Content-Length", strconv.Itoa(reply.Len()))
	_, _ = w.Write(reply.Bytes())
}
