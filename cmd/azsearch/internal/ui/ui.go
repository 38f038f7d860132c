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

// What the server under the page should keep for the request log, in
// searchtest.Options.
const (
	KeepRequests = 500  // requests
	KeepBodies   = 4096 // bytes of the body of each
)

//go:embed page
var files embed.FS

// Options says what a page does not learn from the server.
type Options struct {
	// QueryKey is a key of the server that may read. The page sends its queries
	// with it. Defaults to searchtest.QueryKey.
	QueryKey string
	// Faults is the text of the script that the server was given, as ParseFaults
	// read it, for the page to show. Defaults to none.
	Faults string
	// Host is a name, without a port, under which the page may be asked for, beside
	// localhost and addresses in digits. Defaults to none.
	Host string
}

// Page is the page and the API below it. Its methods may be called from any number
// of goroutines.
type Page struct {
	srv     *searchtest.Server
	opts    Options
	handler http.Handler
	started string // tells the page of one process from that of the next one

	mu     sync.Mutex // held while a script is put in force, so that faults is the one that is
	faults faultsInForce
}

// New returns a page about srv. Nobody sees it before its Intercept is given to
// srv.Intercept.
func New(srv *searchtest.Server, opts Options) *Page {
	if opts.QueryKey == "" {
		opts.QueryKey = searchtest.QueryKey
	}
	now := time.Now()
	p := &Page{srv: srv, opts: opts, started: now.Format(time.RFC3339Nano), faults: faultsInForce{Since: now}}
	if script, err := searchtest.ParseFaults(strings.NewReader(opts.Faults)); err == nil {
		p.faults.Script, p.faults.Label = opts.Faults, labelOf(script)
	}
	p.handler = webpage.Guard([]string{opts.Host}, p.routes())
	return p
}

// Intercept answers requests for the page and what is below /_ui/, and passes on
// all others as they are. It is for Server.Intercept; the last interceptor that
// is added sees a request first.
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

// session is what the page needs once.
func (p *Page) session(w http.ResponseWriter, _ *http.Request) {
	webpage.WriteJSON(w, http.StatusOK, map[string]any{
		"started":    p.started,
		"apiVersion": apiversion.Default, // of the queries of the page
		"queryKey":   p.opts.QueryKey,
		"presets":    presets,
	})
}

// state is what the page asks for every second.
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
