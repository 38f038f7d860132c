package ui

import (
	"embed"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/internal/webpage"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// Values for searchtest.Options of a server with a page.
const (
	KeepRequests = 500  // number of requests in the log
	KeepBodies   = 4096 // bytes of each body
)

//go:embed page
var files embed.FS

// Options has settings that the page cannot get from the server.
type Options struct {
	// QueryKey is the query key for the queries of the page. Defaults to searchtest.QueryKey.
	QueryKey string
	// Faults is the text of the server's fault script, in the format of searchtest.ParseFaults. Defaults to none.
	Faults string
	// Hosts are additional host names of the page, without a port. localhost and numeric addresses are always
	// allowed. Defaults to none.
	Hosts []string
}

// Page is the page and the API below it. It is safe for concurrent use.
type Page struct {
	srv     *searchtest.Server
	opts    Options
	handler http.Handler
	started string // distinguishes this process from the next one at the same address

	mu     sync.Mutex // guards faults; held while setting the server's script, so that both agree
	faults faultsInForce
}

// New returns a page for srv. The page is served once its Intercept is passed to srv.Intercept.
func New(srv *searchtest.Server, opts Options) *Page {
	if opts.QueryKey == "" {
		opts.QueryKey = searchtest.QueryKey
	}
	now := time.Now()
	p := &Page{srv: srv, opts: opts, started: now.Format(time.RFC3339Nano), faults: faultsInForce{Since: now}}
	if script, err := searchtest.ParseFaults(strings.NewReader(opts.Faults)); err == nil {
		p.faults.Script, p.faults.Label = opts.Faults, labelOf(script)
	}
	p.handler = webpage.Guard(opts.Hosts, p.routes())
	return p
}

// Intercept replies to requests for / and below /_ui/, and passes all others to next. It is for Server.Intercept;
// there the interceptor added last receives a request first.
func (p *Page) Intercept(r *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	if r.URL.Path != "/" && !strings.HasPrefix(r.URL.Path, "/_ui/") {
		return next(r)
	}
	w := newRecorder()
	p.handler.ServeHTTP(w, r)
	return w.response(r), nil
}

func (p *Page) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { webpage.ServeFile(w, files, "index.html") })
	mux.HandleFunc("GET /_ui/page/{name}", func(w http.ResponseWriter, r *http.Request) { webpage.ServeFile(w, files, r.PathValue("name")) })
	mux.HandleFunc("GET /_ui/session", p.session)
	mux.HandleFunc("GET /_ui/state", p.state)
	mux.HandleFunc("GET /_ui/requests/{seq}", p.request)
	mux.HandleFunc("GET /_ui/definition", p.definition)
	mux.HandleFunc("GET /_ui/documents", p.documents)
	mux.HandleFunc("GET /_ui/document", p.document)
	mux.HandleFunc("PUT /_ui/faults", p.putFaults)
	mux.HandleFunc("DELETE /_ui/faults", p.deleteFaults)
	return mux
}

// session returns what the page needs once.
func (p *Page) session(w http.ResponseWriter, _ *http.Request) {
	webpage.WriteJSON(w, http.StatusOK, map[string]any{
		"started":    p.started,
		"apiVersion": apiversion.Default, // for the queries of the page
		"queryKey":   p.opts.QueryKey,
		"presets":    presets,
	})
}

// state returns what the page polls every second.
func (p *Page) state(w http.ResponseWriter, r *http.Request) {
	after, ok := number(w, r, "after", 0, maxSeq)
	if !ok {
		return
	}
	requests, all := p.requestsAfter(uint64(after))
	webpage.WriteJSON(w, http.StatusOK, map[string]any{
		"started":  p.started,
		"indexes":  p.indexes(),
		"others":   p.definitions(),
		"faults":   p.inForce(),
		"requests": requests,
		"all":      all,
	})
}
