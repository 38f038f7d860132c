package dashboard

import (
	"embed"
	"errors"
	"net/http"
	"path"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/fleet"
	"github.com/go-azsearch/azsearch/bufferedsender/outbox"
	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/nilcheck"
	"github.com/go-azsearch/azsearch/internal/webpage"
)

// Options selects what a page shows, each item under a name. All fields are optional.
type Options struct {
	Senders map[string]bufferedsender.Observable
	// Fleets are shown with their pools and the sender of each index.
	Fleets   map[string]*fleet.Fleet
	Queues   map[string]queue.Queue
	Outboxes map[string]Outbox
	// Recent has the latency and the failures of the senders observed by Watch. Defaults to none.
	Recent *Recent

	// HideKeys omits the keys of documents. Looking up a given key remains possible.
	HideKeys bool
	// Hosts are the host names, without a port, by which the page may be requested, in addition to localhost and numeric
	// addresses. Defaults to none.
	Hosts []string
}

// Outbox is an outbox on a page.
type Outbox struct {
	// Table and DB are queried for the lag of the relays of all processes. Required.
	Table *outbox.Table
	DB    outbox.Queryer
	// Relay is this process's relay. Defaults to none.
	Relay *outbox.Relay
}

// ready returns an error without a database. A Table reports its own errors.
func (o Outbox) ready() error {
	if nilcheck.IsNil(o.DB) {
		return errors.New("Outbox.DB is nil; set it to the *sql.DB of the table")
	}
	return nil
}

// page is the handler.
type page struct {
	opts     Options
	began    time.Time
	queues   map[string]*asked[queueState]
	outboxes map[string]*asked[outboxState]
	slow     chan struct{} // limits slow requests, so that only a few can hang

	mu    sync.Mutex // guards rates
	rates map[string]*rate
}

// New returns the page as a handler. It answers below any path that ends in "/", for example "GET /debug/senders/" of a
// mux, without http.StripPrefix.
func New(o Options) http.Handler {
	p := &page{opts: o, began: time.Now(), slow: make(chan struct{}, 8), rates: make(map[string]*rate)}
	p.queues = make(map[string]*asked[queueState], len(o.Queues))
	for name := range o.Queues {
		p.queues[name] = new(asked[queueState])
	}
	p.outboxes = make(map[string]*asked[outboxState], len(o.Outboxes))
	for name := range o.Outboxes {
		p.outboxes[name] = new(asked[outboxState])
	}
	if p.opts.Recent == nil {
		p.opts.Recent = new(Recent)
	}
	return webpage.Guard(o.Hosts, p)
}

//go:embed page
var files embed.FS

func (p *page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		webpage.Refuse(w, http.StatusMethodNotAllowed, "the page only reads: use GET")
		return
	}
	switch _, name := path.Split(r.URL.Path); name {
	case "":
		webpage.ServeFile(w, files, "index.html")
	case "state":
		webpage.WriteJSON(w, http.StatusOK, p.state())
	case "oldest":
		p.oldest(w, r)
	case "find":
		p.find(w, r)
	default:
		webpage.ServeFile(w, files, name)
	}
}
