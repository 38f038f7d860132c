package browsertest

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/dashboard"
	"github.com/go-azsearch/azsearch/bufferedsender/fleet"
	"github.com/go-azsearch/azsearch/bufferedsender/outbox"
	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/memqueue"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// process is a program with senders and a dashboard.
type process struct {
	emulator
	service *searchtest.Server
	hotels  *bufferedsender.BufferedSender[models.Document]
}

// hostile is a legal key of a queue that contains markup.
const hostile = `<img src=x onerror="window.pwned=1">`

// startProcess has a sender that sends, a suspended one, a fleet, a queue with a parked key, and an outbox.
func startProcess(t *testing.T) process {
	t.Helper()
	if shared.skip != "" {
		t.Skip(shared.skip)
	}
	p := process{service: searchtest.NewServer(nil)}
	options := &search.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: p.service}}
	for _, name := range []string{"hotels", "flights", "reviews", "a-name-as-long-as-that-of-an-index-of-this-service-may-be-so-that-the-page-has-to-break-it"} {
		require.NoError(t, p.service.CreateIndex(`{"name":"`+name+`","fields":[{"name":"id","type":"Edm.String","key":true},{"name":"rating","type":"Edm.Int32"}]}`))
	}
	p.service.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Index: "flights", Status: 503}}})
	index, err := search.NewIndexClientWithKey(p.service.URL(), azcore.NewKeyCredential(searchtest.AdminKey), options)
	require.NoError(t, err)
	var recent dashboard.Recent
	senderOptions := func(name string) *bufferedsender.Options[models.Document] {
		return &bufferedsender.Options[models.Document]{
			Handlers: dashboard.Watch[models.Document](&recent, name), Documents: bufferedsender.Documents[models.Document]{KeyField: "id"},
			AutoFlushInterval: 50 * time.Millisecond, UnknownWait: -1, Logger: slog.New(slog.DiscardHandler),
		}
	}
	f, err := fleet.New(fleet.From(index.Client, nil), &fleet.Options{Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	ended := func() context.Context {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		return ctx
	}
	t.Cleanup(func() { _ = f.Close(ended()) })
	for _, name := range []string{"reviews", "a-name-as-long-as-that-of-an-index-of-this-service-may-be-so-that-the-page-has-to-break-it"} {
		_, err := fleet.Sender(f, name, senderOptions("all/"+name))
		require.NoError(t, err)
	}
	senders := make(map[string]bufferedsender.Observable)
	for _, name := range []string{"hotels", "flights"} {
		client, err := index.Client(name)
		require.NoError(t, err)
		s, err := bufferedsender.New(client, senderOptions(name))
		require.NoError(t, err)
		t.Cleanup(func() { _ = s.Close(ended()) })
		if senders[name] = s; name == "hotels" {
			p.hotels = s
		}
		require.NoError(t, s.UploadDocuments(t.Context(), models.Document{"id": "waits-" + name, "rating": 1}))
	}
	for i := range 40 {
		require.NoError(t, p.hotels.UploadDocuments(t.Context(), models.Document{"id": fmt.Sprint(i), "rating": i}))
	}
	for i := range 3 {
		require.NoError(t, p.hotels.UploadDocuments(t.Context(), models.Document{"id": fmt.Sprintf("bad-%d", i), "rating": "a secret"}))
	}
	q, err := memqueue.New(nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = q.Close() })
	_, err = q.Append(t.Context(), queue.Call{Adder: queue.NewID(), Number: 1, Records: []queue.Record{{Key: "order-1", Since: time.Now().Add(-3 * time.Hour)}, {Key: hostile}}})
	require.NoError(t, err)
	_, err = q.Park(t.Context(), "<b>poison</b>", hostile)
	require.NoError(t, err)

	mux := http.NewServeMux()
	mux.Handle("/debug/senders/", dashboard.New(dashboard.Options{
		Senders: senders, Fleets: map[string]*fleet.Fleet{"all": f}, Queues: map[string]queue.Queue{"orders": q}, Recent: &recent,
		Outboxes: map[string]dashboard.Outbox{"bookings": bookings(t)},
	}))
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	p.emulator = emulator{srv.URL + "/debug/senders", srv.Close}
	return p
}

// bookings is an outbox with a row that no relay sends.
func bookings(t *testing.T) dashboard.Outbox {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "bookings.db")+"?_txlock=immediate&_pragma=busy_timeout(5000)")
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	require.NoError(t, outbox.Migrate(t.Context(), db, outbox.SQLite, nil))
	tx, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	table := &outbox.Table{Dialect: outbox.SQLite, Queue: "bookings"}
	require.NoError(t, outbox.WriteKeys(t.Context(), tx, table, "booking-1"))
	require.NoError(t, tx.Commit())
	return dashboard.Outbox{Table: table, DB: db}
}

// row is the selector of the n-th sender's row.
func row(n int) string { return fmt.Sprintf("#senders tbody:nth-of-type(%d)", n) }

func TestTheDashboardFollowsTheSenders(t *testing.T) {
	process := startProcess(t)
	p := open(t, process.emulator)
	p.waitFor(`document.querySelectorAll('#senders tbody').length === 4`)
	p.waitFor(`document.querySelector('` + row(1) + ` .chip').textContent === 'circuit open'`)
	assert.Contains(t, p.text(row(1)), "503 Service Unavailable")
	assert.Contains(t, p.text(row(1)), "tries again at")
	assert.Equal(t, "flights: circuit open", p.text("#trouble"))
	p.waitFor(`document.querySelector('` + row(2) + ` tr:first-child td:last-child').textContent === '3'`)
	assert.Contains(t, p.text(row(2)), "healthy")
	assert.Contains(t, p.text(row(4)), "all / reviews")

	p.click(row(2) + " .disclose")
	details := p.text(row(2) + " .more")
	for _, part := range []string{"completed\n41", "3 failed: document", "bad-2", "a value is not of the type Edm.Int32", "actions a request\n1,000"} {
		assert.Contains(t, details, part)
	}
	assert.NotContains(t, evaluate[string](p, `document.body.textContent`), "a secret")
	require.NoError(t, process.hotels.UploadDocuments(t.Context(), models.Document{"id": "new"}))
	p.waitFor(`/completed42/.test(document.querySelector('` + row(2) + ` .more').textContent)`) // the open row stays with its sender
	p.screenshot("dashboard-details")
	process.hotels.Pause()
	p.waitFor(`document.getElementById('trouble').textContent === '2 senders do not send'`)
	process.hotels.Resume()
	p.waitFor(`document.getElementById('trouble').textContent === 'flights: circuit open'`)
}

func TestTheDashboardShowsQueuesAndFindsKeys(t *testing.T) {
	p := open(t, startProcess(t).emulator)
	p.waitFor(`document.querySelectorAll('#queues .card').length === 1`)
	assert.Contains(t, p.text("#queues"), "parked\n1")
	assert.Contains(t, p.text("#queues"), "3 h 0 min")
	assert.Contains(t, p.text("#fleets"), "with a sender\n2")
	p.waitFor(`/rows waiting1/.test(document.getElementById('outboxes').textContent)`)
	p.press("Show the oldest")
	p.waitFor(`document.querySelectorAll('#queues .list li').length === 2`)
	assert.Contains(t, p.text("#queues .list"), "order-1")
	assert.Contains(t, p.text("#queues .list"), "<b>poison</b>")
	p.press("Show dead letters")
	p.waitFor(`document.querySelector('#outboxes .list').textContent === 'none'`)

	find := func(key, summary string) {
		p.write("[name=key]", key)
		p.press("Find")
		p.waitFor(fmt.Sprintf(`document.getElementById('find-summary').textContent.startsWith(%q)`, summary))
	}
	find("waits-flights", "found in 1 of 6")
	assert.Contains(t, p.text("#places"), "sender flights accepted and not settled")
	find("booking-1", "found in 1 of 6")
	find(hostile, "found in 1 of 6")
	assert.Contains(t, p.text("#places"), "queue orders parked")
	find("nowhere", "not found in 6")
	assert.False(t, evaluate[bool](p, `'pwned' in window`))
	assert.Zero(t, evaluate[int](p, `document.querySelectorAll('main img, main b, main script').length`))
}

func TestTheDashboardFitsEveryWindowAndIsUsableWithoutAMouse(t *testing.T) {
	p := open(t, startProcess(t).emulator)
	p.waitFor(`document.querySelector('` + row(1) + ` .chip')?.textContent === 'circuit open'`)
	p.waitFor(`document.querySelector('` + row(2) + ` tr:first-child td:last-child').textContent === '3'`)
	assert.Empty(t, evaluate[[]string](p, `[...document.querySelectorAll('input')].filter((c) => !c.labels.length).map((c) => c.outerHTML)`), "controls without a label")
	assert.Empty(t, evaluate[[]string](p, `[...document.querySelectorAll('button')].filter((b) => !b.textContent.trim()).map((b) => b.outerHTML)`), "buttons without a name")
	evaluate[any](p, `document.querySelector('`+row(2)+` .disclose').focus()`)
	evaluate[any](p, `window.kept = document.activeElement`)
	p.waitFor(`performance.getEntriesByType('resource').filter((e) => e.name.endsWith('/state')).length > 3`)
	assert.True(t, evaluate[bool](p, `document.activeElement === window.kept && window.kept.isConnected`), "looking takes no focus away")
	p.press("Show the oldest")
	p.waitFor(`document.querySelectorAll('#queues .list li').length === 2`)
	for _, size := range [][2]int64{{320, 640}, {360, 740}, {768, 1000}, {1024, 800}, {1500, 950}, {2200, 1200}} {
		p.resize(size[0], size[1])
		for range 2 { // for the current columns
			evaluate[any](p, `document.querySelectorAll('#senders .disclose').forEach((b) => b.click())`)
			wide := evaluate[int](p, `document.documentElement.scrollWidth`)
			assert.LessOrEqual(t, wide, int(size[0]), "%d", size[0])
		}
	}
}

func TestPicturesOfTheDashboard(t *testing.T) {
	if os.Getenv("AZSEARCH_SCREENSHOTS") == "" {
		t.Skip("no screenshots: AZSEARCH_SCREENSHOTS is not set")
	}
	process := startProcess(t)
	p := open(t, process.emulator)
	p.waitFor(`document.querySelector('` + row(1) + ` .chip')?.textContent === 'circuit open'`)
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-time.After(10 * time.Millisecond):
				_ = process.hotels.UploadDocuments(context.Background(), models.Document{"id": fmt.Sprint(i % 1000), "rating": i})
			}
		}
	}()
	p.waitFor(`performance.getEntriesByType('resource').filter((e) => e.name.endsWith('/state')).length > 6`)
	for _, scheme := range []string{"light", "dark"} {
		p.scheme(scheme)
		p.resize(1500, 950)
		p.screenshot("dashboard-wide-" + scheme)
		p.resize(360, 740)
		p.screenshot("dashboard-narrow-" + scheme)
	}
}
