package outbox

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-azsearch/azsearch/search/searchtest"
)

// process stands between a relay with its sender and the systems that outlive them, database and service. It can be
// killed, stopped for a while, and disconnected from the database.
type process struct {
	dead, noDatabase atomic.Bool
	denied           atomic.Bool // the service refuses its requests
	statements       atomic.Int64

	mu      sync.Mutex
	stopped chan struct{} // closed when it resumes; nil: running
	rests   *rand.Rand    // random duration of statements; nil: none

	tell func(statement string, args []driver.NamedValue) // called for each statement; nil: ignored
}

var (
	errKilled     = errors.New("the process was killed")
	errNoDatabase = errors.New("the database does not answer")
	errPrepared   = errors.New("a connection of a process does not prepare statements")
)

// stop blocks all calls of the process until goOn.
func (p *process) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped == nil {
		p.stopped = make(chan struct{})
	}
}

func (p *process) goOn() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped != nil {
		close(p.stopped)
		p.stopped = nil
	}
}

// kill ends the process: none of its calls has an effect from now on.
func (p *process) kill() {
	p.dead.Store(true)
	p.goOn()
}

// alive waits while the process is stopped.
func (p *process) alive() error {
	for {
		p.mu.Lock()
		stopped := p.stopped
		p.mu.Unlock()
		if p.dead.Load() {
			return errKilled
		}
		if stopped == nil {
			return nil
		}
		<-stopped
	}
}

// takes waits for the duration of a trip to or from the database.
func (p *process) takes() {
	if p.rests == nil {
		return
	}
	p.mu.Lock()
	d := time.Duration(p.rests.IntN(20)) * time.Millisecond
	p.mu.Unlock()
	time.Sleep(d)
}

// database opens a pool of this process.
func (p *process) database(d driver.Driver, dsn string) *sql.DB {
	return sql.OpenDB(&connector{p, d, dsn})
}

// connector makes connections of a process.
type connector struct {
	process *process
	driver  driver.Driver
	dsn     string
}

func (c *connector) Driver() driver.Driver { return c.driver }

func (c *connector) Connect(context.Context) (driver.Conn, error) {
	if err := c.process.ask(); err != nil {
		return nil, err
	}
	conn, err := c.driver.Open(c.dsn)
	if err != nil {
		return nil, err
	}
	return &connection{Conn: conn, process: c.process}, nil
}

func (p *process) ask() error {
	if err := p.alive(); err != nil {
		return err
	}
	if p.noDatabase.Load() {
		return errNoDatabase
	}
	return nil
}

// connection is a connection of a process. A process is not stopped within an SQLite transaction. It would hold the
// only write lock, for which others wait in a system call. That stops the virtual clock, which should resume the
// process, and the others fail after seconds of real time.
type connection struct {
	driver.Conn
	process *process
	within  bool // of a transaction
}

// begin waits until a statement can begin, or returns why the database is not reachable.
func (c *connection) begin(statement string, args []driver.NamedValue) error {
	if !c.within {
		c.process.takes()
	}
	if err := c.ask(); err != nil {
		return err
	}
	c.process.statements.Add(1)
	if c.process.tell != nil {
		c.process.tell(statement, args)
	}
	return nil
}

// ask waits while the process is stopped, and returns why the database is not reachable.
func (c *connection) ask() error {
	switch {
	case !c.within:
		return c.process.ask()
	case c.process.dead.Load():
		c.giveUp()
		return errKilled
	case c.process.noDatabase.Load():
		c.giveUp()
		return errNoDatabase
	}
	return nil
}

// giveUp ends a transaction as the end of a process does, which frees its lock. Later calls of the process do not
// reach the database. Its pool, which would close the connection, may be closed by a goroutine that waits for the
// virtual clock.
func (c *connection) giveUp() {
	c.within = false
	_, _ = c.Conn.(driver.ExecerContext).ExecContext(context.Background(), "ROLLBACK", nil)
}

// Begin begins a transaction that a killed or disconnected process does not commit.
func (c *connection) Begin() (driver.Tx, error) {
	if err := c.process.ask(); err != nil {
		return nil, err
	}
	tx, err := c.Conn.Begin() //nolint:staticcheck // driver.Conn hides the driver's BeginTx
	return transaction{tx, c.process}, err
}

type transaction struct {
	driver.Tx
	process *process
}

func (t transaction) Commit() error {
	if err := t.process.ask(); err != nil {
		return errors.Join(err, t.Rollback())
	}
	return t.Tx.Commit()
}

// Prepare would bypass ask, and no package prepares statements.
func (*connection) Prepare(string) (driver.Stmt, error) { return nil, errPrepared }

func (c *connection) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if err := c.begin(query, args); err != nil {
		return nil, err
	}
	result, err := c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args)
	if err != nil {
		return nil, err
	}
	switch {
	case strings.HasPrefix(query, "BEGIN"):
		c.within = true
	case query == "COMMIT", query == "ROLLBACK":
		c.within = false
	}
	if !c.within {
		c.process.takes()
		err = c.process.alive() // no process is left to get the reply
	}
	return result, err
}

func (c *connection) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if err := c.begin(query, args); err != nil {
		return nil, err
	}
	return c.Conn.(driver.QueryerContext).QueryContext(ctx, query, args)
}

// network is the transport of a process.
type network struct {
	process *process
	service *searchtest.Server
}

// Do sends a request unless its process is dead, or was stopped for longer than the request may take.
func (n *network) Do(req *http.Request) (*http.Response, error) {
	if err := n.process.alive(); err != nil {
		return nil, err
	}
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	if n.process.denied.Load() {
		req.Header.Set("Api-Key", "of nobody")
	}
	reply, err := n.service.Do(req)
	if err := n.process.alive(); err != nil {
		return nil, err
	}
	return reply, err
}
