package outbox

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/require"
	"modernc.org/sqlite"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/sqlkit"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// entity is a row of the application and a document of the index.
type entity struct {
	ID string `json:"id" search:"key"`
	// V is the number of the change, Extra that of the last merge.
	V     int `json:"v"`
	Extra int `json:"extra"`
}

// extra is a merge.
type extra struct {
	ID    string `json:"id" search:"key"`
	Extra int    `json:"extra"`
}

const entityIndex = `{"name":"entities","fields":[{"name":"id","type":"Edm.String","key":true},{"name":"v","type":"Edm.Int32"},
	{"name":"extra","type":"Edm.Int32"}]}`

var bubbleClock = sync.OnceValue(func() error {
	return sqlite.RegisterScalarFunction("bubble_now", 0, func(*sqlite.FunctionContext, []driver.Value) (driver.Value, error) {
		return time.Now().UnixMilli(), nil
	})
})

// sqliteWithBubbleClock registers the dialect with the caller's clock, which in a synctest bubble is virtual.
func sqliteWithBubbleClock(t testing.TB) {
	t.Helper()
	require.NoError(t, bubbleClock())
	was := sqlkit.SQLite.Now
	sqlkit.SQLite.Now = `bubble_now()`
	t.Cleanup(func() { sqlkit.SQLite.Now = was })
}

// schedule is one random interleaving of writers, relays, crashes and faults.
type schedule struct {
	rnd     *rand.Rand
	driver  driver.Driver
	dsn     string
	queue   string
	app     *sql.DB
	table   *Table
	later   *Table // the same queue with another class
	service *searchtest.Server
	procs   [3]*member
	jobs    sync.WaitGroup

	mu      sync.Mutex
	errors  []string
	held    map[string]bool
	version int
	truth   map[string]entity
	refused map[int]bool // versions that the service refuses for good
	purged  map[string]bool
	rolled  map[int]bool // versions that were rolled back
	down    bool
	lossy   bool // replies are lost
	story   strings.Builder
	busy    bool // documents are refused for a while
}

// member is a process with a relay.
type member struct {
	*process
	db     *sql.DB
	sender *bufferedsender.BufferedSender[entity]
	relay  *Relay
	end    context.CancelFunc
	ended  chan struct{}
}

func (s *schedule) wrong(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.errors = append(s.errors, fmt.Sprintf(format, args...))
}

func (s *schedule) hold(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held[what] = true
}

// tell adds a line to the schedule's log, which a failure prints, because the seed does not determine everything.
func (s *schedule) tell(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(&s.story, time.Now().Format("04:05.000 ")+format+"\n", args...)
}

// Write is the log of relays and senders.
func (s *schedule) Write(line []byte) (int, error) {
	if strings.Contains(string(line), "ranges given away") {
		s.hold("stepped aside")
	}
	s.tell("%s", strings.TrimSpace(string(line)))
	return len(line), nil
}

const modelTimeout = 2 * time.Second

// start starts a process.
func (s *schedule) start(i int) {
	p := &process{rests: rand.New(rand.NewPCG(s.rnd.Uint64(), 0)), tell: func(statement string, args []driver.NamedValue) {
		statement = strings.Join(strings.Fields(statement), " ")
		s.tell("%d: %.60s %v", i, statement, args)
	}}
	m := &member{process: p, db: p.database(s.driver, s.dsn), ended: make(chan struct{})}
	client, err := search.NewClientWithKey("https://model.search.windows.net", "entities", azcore.NewKeyCredential(searchtest.AdminKey), &search.ClientOptions{
		ClientOptions: azcore.ClientOptions{Transport: &network{p, s.service}},
	})
	if err != nil {
		s.wrong("%v", err)
		return
	}
	quiet := slog.New(slog.NewTextHandler(s, nil)).With("process", i)
	m.sender, err = bufferedsender.New(client, &bufferedsender.Options[entity]{
		AutoFlushInterval: 20 * time.Millisecond, RequestTimeout: modelTimeout, UnknownWait: time.Second, Logger: quiet,
		Retry:  retry.Options{MaxRetries: 1},
		Limits: bufferedsender.Limits{MaxBatchActions: 4, MaxInFlight: 2, MaxBufferedActions: 24},
	})
	if err != nil {
		s.wrong("%v", err)
		return
	}
	m.relay, err = NewRelay(m.db, s.table, m.sender.Raw(), &RelayOptions{
		Lease: 12 * time.Second, renew: 2 * time.Second, Poll: 400 * time.Millisecond, fullPass: 10 * time.Second, Logger: quiet, maxRows: 1 + s.rnd.IntN(12),
		Loader: Load(func(ctx context.Context, keys []string) ([]models.IndexDocumentsAction[entity], error) {
			return s.load(ctx, m.db, keys)
		}),
		Dead: func(DeadLetter) { s.hold("dead letter") },
	})
	if err != nil {
		s.wrong("%v", err)
		return
	}
	ctx, end := context.WithCancel(context.Background())
	m.end = end
	s.procs[i] = m
	go func() {
		defer close(m.ended)
		if err := m.relay.Run(ctx); err != nil && !p.dead.Load() {
			s.wrong("relay %d: %v", i, err)
		}
	}()
}

// finish ends a process, killed or not.
func (s *schedule) finish(i int) {
	m := s.procs[i]
	if m == nil {
		return
	}
	s.procs[i] = nil
	m.end()
	s.jobs.Add(1)
	go func() {
		defer s.jobs.Done()
		<-m.ended
		stats := m.relay.Stats()
		for what, n := range map[string]int64{"fold": stats.Folded, "lost lease": stats.LeasesLost, "stale": stats.Stale, "failed": stats.Failed, "load": stats.Loaded} {
			if n > 0 {
				s.hold(what)
			}
		}
		s.mu.Lock()
		back := s.held["went back"]
		s.mu.Unlock()
		if stats.Late > 0 && !back {
			s.wrong("%d rows were late, on a database with one writer", stats.Late)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_ = m.sender.Close(ctx) // a killed one cannot
		_ = m.db.Close()
	}()
}

// load is the Loader: it reads the application's table.
func (s *schedule) load(ctx context.Context, db *sql.DB, keys []string) (all []models.IndexDocumentsAction[entity], err error) {
	for _, key := range keys {
		err = sqlkit.Each(ctx, db, func(rows *sql.Rows) error {
			e := entity{ID: key}
			err := rows.Scan(&e.V, &e.Extra)
			all = append(all, models.UploadAction(e))
			return err
		}, `SELECT v, extra FROM entity WHERE queue = ?1 AND id = ?2`, s.queue, key)
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// write changes up to three entities in one transaction, which is committed or rolled back.
func (s *schedule) write() {
	ctx := context.Background()
	commit := s.rnd.IntN(5) > 0
	tx, err := s.app.BeginTx(ctx, nil)
	if err != nil {
		s.wrong("begin to write: %v", err)
		return
	}
	type change struct {
		key     string
		version int
		now     entity
		gone    bool
		merge   bool
	}
	var changes []change
	truth := func(key string) (entity, bool) {
		for i := len(changes) - 1; i >= 0; i-- {
			if changes[i].key == key {
				return changes[i].now, !changes[i].gone
			}
		}
		e, ok := s.truth[key]
		return e, ok
	}
	for range 1 + s.rnd.IntN(3) {
		s.mu.Lock()
		s.version++
		v := s.version
		s.mu.Unlock()
		c := change{key: "k" + strconv.Itoa(s.rnd.IntN(7)), version: v}
		was, there := truth(c.key)
		switch what := s.rnd.IntN(10); {
		case what == 0:
			c.gone = true
		case what < 4 && there:
			c.merge, c.now = true, entity{c.key, was.V, v}
		default:
			c.now = entity{c.key, v, 0}
		}
		if c.gone {
			_, err = tx.ExecContext(ctx, `DELETE FROM entity WHERE queue = ?1 AND id = ?2`, s.queue, c.key)
		} else {
			_, err = tx.ExecContext(ctx, `INSERT OR REPLACE INTO entity (queue, id, v, extra) VALUES (?1, ?2, ?3, ?4)`, s.queue, c.key, c.now.V, c.now.Extra)
		}
		table := s.table
		if s.rnd.IntN(4) == 0 {
			table = s.later
		}
		switch {
		case err != nil:
		case s.rnd.IntN(4) == 0:
			err = WriteKeys(ctx, tx, table, c.key)
		case c.gone:
			err = Write(ctx, tx, table, models.DeleteAction(entity{ID: c.key}))
		case c.merge:
			err = Write(ctx, tx, table, models.MergeOrUploadAction(extra{c.key, v}))
		default:
			if s.rnd.IntN(12) == 0 && commit {
				s.mu.Lock()
				s.refused[v] = true
				s.mu.Unlock()
			}
			err = Write(ctx, tx, table, models.UploadAction(c.now))
		}
		if err != nil {
			s.wrong("write: %v", err)
		}
		changes = append(changes, c)
	}
	s.mu.Lock()
	if !commit {
		for _, c := range changes {
			s.rolled[c.version] = true
		}
	}
	s.mu.Unlock()
	if !commit {
		s.hold("rollback")
		_ = tx.Rollback()
		return
	}
	if err := tx.Commit(); err != nil {
		s.wrong("commit: %v", err)
		return
	}
	s.tell("committed %+v", changes)
	for _, c := range changes {
		if c.gone {
			delete(s.truth, c.key)
		} else {
			s.truth[c.key] = c.now
		}
		if !c.merge {
			delete(s.purged, c.key)
		}
	}
}

// intercept is the service with faults. It checks each request.
func (s *schedule) intercept(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	if !strings.HasSuffix(req.URL.Path, "/docs/search.index") {
		return next(req)
	}
	raw, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	var body struct{ Value []entity }
	if err := json.Unmarshal(raw, &body); err != nil {
		s.wrong("a request is not JSON: %v", err)
	}
	select {
	case <-time.After(20 * time.Millisecond):
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
	s.mu.Lock()
	down, lossy, busy := s.down, s.lossy, s.busy
	refuse := false
	for _, e := range body.Value {
		for _, v := range []int{e.V, e.Extra} {
			if s.rolled[v] {
				s.errors = append(s.errors, fmt.Sprintf("version %d of %s was rolled back, and sent", v, e.ID))
			}
		}
		refuse = refuse || s.refused[e.V]
	}
	s.mu.Unlock()
	s.tell("request %s: down %v, lossy %v, busy %v, refuses %v", raw, down, lossy, busy, refuse)
	if down {
		return nil, errors.New("connection refused")
	}
	again := func() *http.Request {
		r := req.Clone(req.Context())
		r.Body = io.NopCloser(strings.NewReader(string(raw)))
		return r
	}
	if refuse || busy {
		return s.partly(again(), raw, busy, next)
	}
	reply, err := next(again())
	if lossy && err == nil {
		_ = reply.Body.Close()
		<-req.Context().Done()
		return nil, req.Context().Err()
	}
	return reply, err
}

// partly refuses single documents: the bad ones, and part of the others if the service is busy.
func (s *schedule) partly(req *http.Request, raw []byte, busy bool, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	var body struct{ Value []json.RawMessage }
	if err := json.Unmarshal(raw, &body); err != nil {
		return nil, err
	}
	results := make([]map[string]any, len(body.Value))
	var kept []json.RawMessage
	var at []int
	for i, text := range body.Value {
		var e entity
		if err := json.Unmarshal(text, &e); err != nil {
			return nil, err
		}
		s.mu.Lock()
		bad := s.refused[e.V]
		s.mu.Unlock()
		switch {
		case bad:
			results[i] = map[string]any{"key": e.ID, "status": false, "statusCode": 400, "errorMessage": "bad"}
		case busy && i%2 == 0:
			results[i] = map[string]any{"key": e.ID, "status": false, "statusCode": 409, "errorMessage": "busy"}
		default:
			kept, at = append(kept, text), append(at, i)
		}
	}
	if len(kept) > 0 {
		text, err := json.Marshal(map[string]any{"value": kept})
		if err != nil {
			return nil, err
		}
		req.Body, req.ContentLength = io.NopCloser(strings.NewReader(string(text))), int64(len(text))
		reply, err := next(req)
		if err != nil {
			return nil, err
		}
		defer reply.Body.Close()
		var answer struct{ Value []map[string]any }
		if err := json.NewDecoder(reply.Body).Decode(&answer); err != nil {
			return nil, err
		}
		for i, r := range answer.Value {
			results[at[i]] = r
		}
	}
	text, err := json.Marshal(map[string]any{"value": results})
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: 207, Header: http.Header{"Content-Type": {"application/json"}}, Request: req,
		Body: io.NopCloser(strings.NewReader(string(text))), ContentLength: int64(len(text)),
	}, nil
}

// set changes a condition of the service.
func (s *schedule) set(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// step does one random thing.
func (s *schedule) step() {
	i := s.rnd.IntN(len(s.procs))
	m := s.procs[i]
	ctx := context.Background()
	what := s.rnd.IntN(40)
	s.tell("step %d, process %d", what, i)
	switch {
	case what < 18:
		s.write()
	case what < 22:
		time.Sleep(time.Duration(s.rnd.IntN(3000)) * time.Millisecond)
	case what == 22:
		time.Sleep(time.Duration(5+s.rnd.IntN(20)) * time.Second)
	case m == nil:
		s.start(i)
	case what < 25:
		s.hold("kill")
		m.kill()
		s.finish(i)
	case what == 25:
		s.hold("graceful end")
		s.finish(i)
	case what == 26:
		s.hold("stop")
		m.stop()
		s.jobs.Add(1)
		wait := time.Duration(s.rnd.IntN(30)) * time.Second
		go func() {
			defer s.jobs.Done()
			time.Sleep(wait)
			m.goOn()
		}()
	case what == 27:
		m.noDatabase.Store(true)
		s.jobs.Add(1)
		wait := time.Duration(s.rnd.IntN(20)) * time.Second
		go func() {
			defer s.jobs.Done()
			time.Sleep(wait)
			m.noDatabase.Store(false)
		}()
	case what < 30:
		s.set(func() { s.down = !s.down })
	case what < 32:
		s.hold("lost answer")
		s.set(func() { s.lossy = !s.lossy })
	case what < 34:
		s.set(func() { s.busy = !s.busy })
	case what == 34:
		key := "k" + strconv.Itoa(s.rnd.IntN(7))
		n, err := s.table.Purge(ctx, s.app, key)
		if err != nil {
			s.wrong("purge: %v", err)
		}
		if n > 0 {
			s.purged[key] = true
		}
	case what == 35:
		if err := s.table.Pause(ctx, s.app); err != nil {
			s.wrong("pause: %v", err)
		}
		time.Sleep(3 * time.Second)
		if err := s.table.Resume(ctx, s.app); err != nil {
			s.wrong("resume: %v", err)
		}
	case what == 36:
		_, err := s.table.Backfill(ctx, s.app, func(yield func(string, error) bool) {
			for key := range s.truth {
				if !yield(key, nil) {
					return
				}
			}
		})
		if err != nil {
			s.wrong("backfill: %v", err)
		}
	case what == 37:
		s.hold("went back")
		if err := s.goBack(); err != nil {
			s.wrong("go back: %v", err)
		}
	case what == 38: // the service refuses this process until it ends, or until the next such step for it
		if !m.denied.Swap(!m.denied.Load()) {
			s.hold("denied")
		}
	}
}

// kept are the tables of a queue, with their columns.
var kept = map[string]string{
	"entity": "queue, id, v, extra", "azsearch_outbox": "seq, queue, class, key, op, body, written, attempts",
	"azsearch_outbox_lease": "queue, slot, owner, epoch, expires", "azsearch_outbox_queue": "queue, paused",
	"azsearch_outbox_dead": "queue, seq, class, key, op, body, written, attempts, status, reason, message, died, newer",
}

// goBack makes the database lose the writes of some seconds. All relays run meanwhile, and writes resume at once. A
// relay that ended before it detected this would lose the list of keys that it had confirmed, so all relays continue.
func (s *schedule) goBack() error {
	s.jobs.Wait()
	ctx := context.Background()
	conn, err := s.app.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	for table, columns := range kept {
		if _, err := conn.ExecContext(ctx, fmt.Sprintf(`CREATE TEMP TABLE was_%s AS SELECT %s FROM %[1]s WHERE queue = ?1`, table, columns), s.queue); err != nil {
			return err
		}
	}
	var last int64
	if err := sqlkit.One(ctx, conn, &last, `SELECT seq FROM sqlite_sequence WHERE name = 'azsearch_outbox'`); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	truth, purged := maps.Clone(s.truth), maps.Clone(s.purged)
	time.Sleep(5 * time.Second) // relays renew their leases
	for range 1 + s.rnd.IntN(8) {
		s.write()
		time.Sleep(time.Duration(s.rnd.IntN(500)) * time.Millisecond)
	}
	if _, err := conn.ExecContext(ctx, `BEGIN IMMEDIATE`); err != nil {
		return err
	}
	for table, columns := range kept {
		for _, query := range []string{`DELETE FROM %s WHERE queue = '%[3]s'`, `INSERT INTO %s (%s) SELECT %[2]s FROM was_%[1]s WHERE queue = '%[3]s'`, `DROP TABLE was_%s -- %s %s`} {
			if _, err := conn.ExecContext(ctx, fmt.Sprintf(query, table, columns, s.queue)); err != nil {
				return err
			}
		}
	}
	if _, err := conn.ExecContext(ctx, `UPDATE sqlite_sequence SET seq = ?1 WHERE name = 'azsearch_outbox'`, last); err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, `COMMIT`); err != nil {
		return err
	}
	s.truth, s.purged = truth, purged
	s.tell("went back to number %d", last)
	for range s.rnd.IntN(8) {
		s.write()
	}
	time.Sleep(5 * time.Second)
	return nil
}

// run executes the schedule, lets one relay send the rest, and compares.
func (s *schedule) run(steps int) {
	ctx := context.Background()
	s.service = searchtest.NewServer(nil)
	defer s.service.Close()
	if err := s.service.CreateIndex(entityIndex); err != nil {
		s.wrong("%v", err)
		return
	}
	s.service.Intercept(s.intercept)
	p := &process{}
	s.app = p.database(s.driver, s.dsn)
	defer s.app.Close()
	s.table, s.later = &Table{Dialect: SQLite, Queue: s.queue}, &Table{Dialect: SQLite, Queue: s.queue, Class: 3}
	s.start(0)
	for range steps {
		s.step()
	}
	s.set(func() { s.down, s.lossy, s.busy = false, false, false })
	for i := range s.procs {
		s.finish(i)
	}
	s.jobs.Wait()
	s.start(0)
	for until := time.Now().Add(20 * time.Minute); ; time.Sleep(time.Second) {
		lag, err := s.table.Lag(ctx, s.app)
		if err != nil {
			s.wrong("lag: %v", err)
			break
		}
		if lag.Rows == 0 {
			break
		}
		if time.Now().After(until) {
			s.wrong("%d rows are left, %+v", lag.Rows, s.procs[0].relay.Stats())
			break
		}
	}
	s.finish(0)
	s.jobs.Wait()
	s.compare(ctx)
}

// compare compares the index with the committed entities.
func (s *schedule) compare(ctx context.Context) {
	letters, err := s.table.DeadLetters(ctx, s.app, 0, 10_000)
	if err != nil {
		s.wrong("dead letters: %v", err)
	}
	dead := make(map[int]bool)
	for _, l := range letters {
		var e entity
		_ = json.Unmarshal(l.Body, &e) // a key-only row has no body
		dead[e.V] = true
		if l.Op == "" {
			dead[s.truth[l.Key].V] = true
		}
	}
	docs := s.service.Documents("entities")
	for i := range 7 {
		key := "k" + strconv.Itoa(i)
		want, exists := s.truth[key]
		if s.purged[key] {
			continue
		}
		text, indexed := docs[key]
		var got entity
		if indexed {
			if err := json.Unmarshal(text, &got); err != nil {
				s.wrong("%v", err)
			}
		}
		switch {
		case exists && s.refused[want.V]:
			if !dead[want.V] {
				s.wrong("version %d of %s was refused, but is not a dead letter", want.V, key)
			}
		case exists != indexed || exists && got != want:
			s.wrong("%s: the table has %v (%v), the index %v (%v); history %v", key, want, exists, got, indexed, history(s.service, key))
		}
	}
}

func history(service *searchtest.Server, key string) (all []string) {
	for _, c := range service.History("entities", key) {
		all = append(all, fmt.Sprint(c))
	}
	return all
}

// schedules returns the number of schedules of TestRandomSchedules (AZSEARCH_TEST_SCHEDULES) and their first seed
// (AZSEARCH_TEST_SEED).
func schedules() (n int, seed uint64) {
	n, seed = testkit.Cases(5, 20, 100), 1
	if v, err := strconv.Atoi(os.Getenv("AZSEARCH_TEST_SCHEDULES")); err == nil {
		n = v
	}
	if v, err := strconv.ParseUint(os.Getenv("AZSEARCH_TEST_SEED"), 10, 64); err == nil {
		seed = v
	}
	return n, seed
}

// Random interleavings of writers, relays, crashes, hand-overs and faults of the service. A request never contains a
// rolled-back change. At the end the index has the last change of each key, unless its row is a dead letter or was
// purged.
func TestEveryCommittedChangeArrivesInRandomSchedules(t *testing.T) {
	sqliteWithBubbleClock(t)
	n, first := schedules()
	var mu sync.Mutex
	held := make(map[string]int)
	const workers = 2
	t.Run("workers", func(t *testing.T) {
		for w := range workers {
			t.Run(strconv.Itoa(w), func(t *testing.T) {
				t.Parallel()
				dsn, registered := modelDatabase(t)
				for i := w; i < n && !t.Failed(); i += workers {
					s := runSchedule(t, registered, dsn, first+uint64(i))
					mu.Lock()
					for what := range s.held {
						held[what]++
					}
					mu.Unlock()
				}
			})
		}
	})
	t.Logf("%d schedules held %v", n, held)
	for _, what := range modelHolds {
		if n >= 1000 && held[what] == 0 {
			t.Errorf("no schedule contained a %s, so the model does not test it", what)
		}
	}
}

// modelHolds are the events that schedules can contain.
var modelHolds = []string{"dead letter", "denied", "failed", "fold", "graceful end", "kill", "load", "lost answer", "lost lease", "rollback", "stale", "stepped aside", "stop", "went back"}

// modelDatabase creates a database for many schedules, each with its own queue.
func modelDatabase(t *testing.T) (dsn string, registered driver.Driver) {
	// The time-out uses the real clock: a disk that blocks for seconds is not a failure.
	dsn = "file:" + filepath.Join(t.TempDir(), "db") + "?_pragma=journal_mode(WAL)&_pragma=busy_timeout(60000)&_pragma=synchronous(OFF)&_txlock=immediate"
	db, err := sql.Open("sqlite", dsn)
	require.NoError(t, err)
	require.NoError(t, Migrate(t.Context(), db, SQLite, nil))
	_, err = db.ExecContext(t.Context(), `CREATE TABLE entity (queue TEXT, id TEXT, v INTEGER, extra INTEGER, PRIMARY KEY (queue, id))`)
	require.NoError(t, err)
	registered = db.Driver()
	require.NoError(t, db.Close())
	return dsn, registered
}

func runSchedule(t *testing.T, registered driver.Driver, dsn string, seed uint64) *schedule {
	t.Helper()
	s := &schedule{
		rnd: rand.New(rand.NewPCG(seed, 15)), driver: registered, dsn: dsn, queue: "q" + strconv.FormatUint(seed, 10),
		held: map[string]bool{}, truth: map[string]entity{}, refused: map[int]bool{}, purged: map[string]bool{}, rolled: map[int]bool{},
	}
	synctest.Test(t, func(*testing.T) {
		s.run(20 + s.rnd.IntN(40))
		time.Sleep(time.Minute) // abandoned driver calls return
	})
	if len(s.errors) > 0 {
		t.Errorf("%sseed %d: AZSEARCH_TEST_SEED=%[2]d AZSEARCH_TEST_SCHEDULES=1 go test -run RandomSchedules ./bufferedsender/outbox\n%s", s.story.String(), seed, strings.Join(s.errors, "\n"))
	}
	return s
}
