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

// process stands between a relay with its sender and what outlives them: the database and the
// service. It can be killed, stopped for a while, and cut off from the database.
type process struct {
	dead, noDatabase atomic.Bool
	denied           atomic.Bool // the service refuses it
	statements       atomic.Int64

	mu      sync.Mutex
	stopped chan struct{} // closed when it goes on; nil: it runs
	rests   *rand.Rand    // of the time that statements take; nil: none

	tell func(statement string, args []driver.NamedValue) // each statement; nil: nothing
}

var (
	errKilled     = errors.New("the process was killed")
	errNoDatabase = errors.New("the database does not answer")
	errPrepared   = errors.New("a connection of a process does not prepare statements")
)

// stop holds all that it does, until goOn.
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

// kill ends it: nothing that it does reaches anybody any more.
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

// takes lets the time of the way to the database, or back, pass.
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

// connection is one of a process. A process is not stopped within a transaction of SQLite. It
// would keep the one lock for writing, for which the others wait in a system call; the clock of a
// bubble, which is to let the process go on, stands still meanwhile, and they give up after seconds
// of the real one.
type connection struct {
	driver.Conn
	process *process
	within  bool // of a transaction
}

// begin lets a statement begin, or says why the database cannot be asked.
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

// ask waits while the process is stopped, and says why the database cannot be asked.
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

// giveUp ends a transaction as the end of a process does: its lock is free. What the process does to end it does not
// reach the database any more, and its pool, which would close the connection, may be closed by something that waits
// for the clock.
func (c *connection) giveUp() {
	c.within = false
	_, _ = c.Conn.(driver.ExecerContext).ExecContext(context.Background(), "ROLLBACK", nil)
}

// Begin begins a transaction that a dead process, or one without a database, does not commit.
func (c *connection) Begin() (driver.Tx, error) {
	if err := c.process.ask(); err != nil {
		return nil, err
	}
	tx, err := c.Conn.Begin() //nolint:staticcheck // the driver's BeginTx is behind a driver.Conn
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

// Prepare would go past ask, and no package prepares statements.
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
		err = c.process.alive() // nobody is there for the answer
	}
	return result, err
}

func (c *connection) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if err := c.begin(query, args); err != nil {
		return nil, err
	}
	return c.Conn.(driver.QueryerContext).QueryContext(ctx, query, args)
}

// network is the way of a process to the service.
type network struct {
	process *process
	service *searchtest.Server
}

// Do lets a request through, unless its process is dead, or was stopped for longer than it may take.
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
