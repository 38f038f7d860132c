// Package outbox compares the cost of the outbox with that of alternatives: the same work, in the same database, with
// the same durability, alternating.
//
//	go run . outbox                              # everything: about a quarter of an hour; most rows need PostgreSQL
//	go run . outbox -only relay,sqlite -rounds 3
//	go run . outbox -scale 0.01                  # quick test with a hundredth of the work
//	go run . outbox -only relay -rounds 1 -profile profiles -statements
//
// PostgreSQL has its default settings: fsync and synchronous_commit are on. SQLite has a WAL and synchronous=FULL.
// Figures are medians of the rounds, with the range. CPU seconds are the sum of this process and the server,
// background work included. On a busy machine they vary less than rates.
package outbox

import (
	"context"
	"errors"
	"io"

	"github.com/go-azsearch/azsearch/bench/internal/cli"
	"github.com/go-azsearch/azsearch/bench/internal/figures"
	"github.com/go-azsearch/azsearch/bench/internal/rounds"
	"github.com/go-azsearch/azsearch/internal/testkit/servers"
)

// Command fails if a measurement fails or its result is wrong.
var Command = cli.Command{
	Name:  "outbox",
	About: "the outbox compared with alternatives in the same database",
	Run: func(ctx context.Context, args []string, s cli.Streams) (err error) {
		p := &plan{stderr: s.Err}
		defer func() {
			if p.server != nil {
				err = errors.Join(err, p.server.Close())
			}
		}()
		return p.run(ctx, args, s)
	},
}

// plan has the flags and the server of a run.
type plan struct {
	rounds.Plan
	statements bool

	stderr io.Writer
	server *servers.PostgresServer // nil until a row needs it
}

func (p *plan) run(ctx context.Context, args []string, s cli.Streams) error {
	set := cli.Flags("outbox", s)
	p.ScaleFlags(set)
	set.BoolVar(&p.statements, "statements", false, "print the statements of the server with their times; costs some per cent")
	if err := table.Parse(&p.Plan, set, args, nil); err != nil {
		return err
	}
	return table.Run(ctx, &p.Plan, p, s.Out)
}

type (
	contestant = rounds.Contestant[*plan]
	figure     = figures.Figure
)

// Figures with a ratio to the anchor.
const (
	cpuFigure  = "CPU s per 10⁶"
	rateFigure = "a second"
)

var table = rounds.Table[*plan]{Rounds: 5, Ratios: []string{cpuFigure, rateFigure}, Rows: []rounds.Row[*plan]{
	{Name: "relay", What: "rows of 650 bytes, all written beforehand: read, send to a sink that replies at once, delete", Contestants: relays},
	{Name: "held", What: "rows are written while the relay runs; REPEATABLE READ: another transaction that has read stays open", Contestants: held},
	{Name: "price", What: "transactions on four connections that change an entity of 650 bytes, with and without writing to the outbox, alternating", Contestants: prices},
	{Name: "sqlite", What: "rows of 650 bytes: written, 100 per transaction, and read again", Contestants: trips},
	{Name: "drivers", What: "the same by driver of SQLite, all rows written first and then read", Contestants: drivers},
	{Name: "latency", What: "ms from the commit of a lone transaction until it is applied by a service 50 ms away", Contestants: latencies, Once: true},
	{Name: "behind", What: "2 000 000 rows were deleted, and vacuum cannot remove them: ms from the commit of a lone transaction until it is applied by a service 50 ms away, polled", Contestants: behind, Once: true},
	{Name: "idle", What: "calls of the database by a relay that has nothing to do", Contestants: idlers, Once: true},
}}
