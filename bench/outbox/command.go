// Package outbox is for whoever wants to know what an outbox costs: it puts it and what could have been used
// instead through the same work, in the same database, at the same durability, in turns.
//
//	go run . outbox                              # everything: about a quarter of an hour; needs PostgreSQL for most rows
//	go run . outbox -only relay,sqlite -rounds 3
//	go run . outbox -scale 0.01                  # a hundredth of the work, to try it
//	go run . outbox -only relay -rounds 1 -profile profiles -statements
//
// PostgreSQL is as it comes: fsync and synchronous_commit are on. SQLite has a WAL and synchronous=FULL.
// Figures are medians of the rounds, with the range. CPU seconds are those of this process and of the server, with
// all that it does in the background, and steadier than rates on a machine that does other work.
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

// Command fails if something could not be measured or came out wrong.
var Command = cli.Command{
	Name:  "outbox",
	About: "the outbox beside what could have been used instead, in the same database",
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

// plan is what is measured.
type plan struct {
	rounds.Plan
	statements bool

	stderr io.Writer
	server *servers.PostgresServer // nil until a row needs it
}

func (p *plan) run(ctx context.Context, args []string, s cli.Streams) error {
	set := cli.Flags("outbox", s)
	p.ScaleFlags(set)
	set.BoolVar(&p.statements, "statements", false, "say what the server has run, and how long that took; it costs some per cent")
	if err := table.Parse(&p.Plan, set, args, nil); err != nil {
		return err
	}
	return table.Run(ctx, &p.Plan, p, s.Out)
}

type (
	contestant = rounds.Contestant[*plan]
	figure     = figures.Figure
)

// Figures that are compared with those of an anchor.
const (
	cpuFigure  = "CPU s per 10⁶"
	rateFigure = "a second"
)

var table = rounds.Table[*plan]{Rounds: 5, Ratios: []string{cpuFigure, rateFigure}, Rows: []rounds.Row[*plan]{
	{Name: "relay", What: "650 bytes a row, all written beforehand: read, sent to a sink that answers at once, deleted", Contestants: relays},
	{Name: "held", What: "rows are written while the relay runs; REPEATABLE READ: a transaction elsewhere that has read something is open all the time", Contestants: held},
	{Name: "price", What: "transactions on four connections, each changes an entity of 650 bytes; with what tells the index of it, and without, in turns", Contestants: prices},
	{Name: "sqlite", What: "rows of 650 bytes, 100 a transaction in, and out again", Contestants: trips},
	{Name: "drivers", What: "the same by the driver of SQLite, rows first in and then out", Contestants: drivers},
	{Name: "latency", What: "ms from the commit of a lone transaction until it is applied by a service 50 ms away", Contestants: latencies, Once: true},
	{Name: "behind", What: "2 000 000 rows were deleted, and vacuum cannot remove them: ms from the commit of a lone transaction until it is applied by a service 50 ms away, polled", Contestants: behind, Once: true},
	{Name: "idle", What: "calls of the database by a relay that has nothing to do", Contestants: idlers, Once: true},
}}
