package backup

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-azsearch/azsearch/bench/internal/slow"
)

const definition = `{"name":"hotels","fields":[{"name":"id","type":"Edm.String","key":true,"filterable":true,"sortable":true},{"name":"name","type":"Edm.String"},{"name":"description","type":"Edm.String"}]}`

// index is a service with one index, of documents with the keys 00000000, 00000001 and so on, which it makes when they
// are asked for. Those that are uploaded are counted.
type index struct {
	documents int
	latency   time.Duration
	has       atomic.Int64
	uploaded  []atomic.Bool // by number
}

func newIndex(documents int, latency time.Duration, full bool) *index {
	x := &index{documents: documents, latency: latency, uploaded: make([]atomic.Bool, documents)}
	if full {
		x.has.Store(int64(documents))
	}
	return x
}

var condition = regexp.MustCompile(`id (g[te]|le) '([^']*)'`)

func (x *index) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if slow.Wait(r.Context(), x.latency) != nil {
		return
	}
	w.Header().Set("Content-Type", "application/json")
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
	behind = min(behind, first+query.Top)
	b := append(make([]byte, 0, 700*max(1, behind-first)), `{"value":[`...)
	for i := first; i < behind; i++ {
		if i > first {
			b = append(b, ',')
		}
		b = append(b, `{"@search.score":1,"id":"`...)
		at := len(b)
		b = strconv.AppendInt(b, int64(100_000_000+i), 10)
		copy(b[at:], b[at+1:])
		b[len(b)-1] = '"'
		if query.Select != "id" {
			b = append(append(append(b, `,"name":"Hotel","description":"`...), description...), '"')
		}
		b = append(b, '}')
	}
	b = append(b, `]}`...)
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	_, _ = w.Write(b)
}

func (x *index) upload(w http.ResponseWriter, r *http.Request) {
	keys, err := slow.Keys(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	b := []byte(`{"value":[`)
	for i, key := range keys {
		number, err := strconv.Atoi(key)
		if err != nil || number >= x.documents {
			http.Error(w, "unknown key "+key, http.StatusBadRequest)
			return
		}
		if x.uploaded[number].CompareAndSwap(false, true) {
			x.has.Add(1)
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, `{"key":"`...), key...), `","status":true,"errorMessage":null,"statusCode":201}`...)
	}
	_, _ = w.Write(append(b, `]}`...))
}

var description = strings.Repeat("close to the river and quiet at night ", 16)
