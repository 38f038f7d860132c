// Package fleet checks that many senders can share one service. It compares a fleet with a lone sender, live updates
// with and without a backfill, healthy indexes before and after another one fails, and a hundred busy indexes with
// and without ten thousand idle ones.
//
//	go run . fleet                          # everything: eight to ten minutes
//	go run . fleet -only live,many -rounds 3
//	go run . fleet -only many -profile profiles
//	go run . fleet -fast                    # quick test; the figures mean little
//
// The service runs in the process. A request takes 50 ms and no processor time, so slots and batch size limit the
// rate, at less than half of the processors. All figures except bytes and nanoseconds compare measurements that
// alternate within one run.
package fleet

import (
	"context"
	"fmt"
	"time"

	"github.com/go-azsearch/azsearch/bench/internal/cli"
	"github.com/go-azsearch/azsearch/bench/internal/rounds"
)

// Command fails if a measurement fails or a document is lost.
var Command = cli.Command{
	Name:  "fleet",
	About: "many senders that share one service, compared with a lone one; live updates with a backfill, with a failing index, with idle indexes",
	Run: func(ctx context.Context, args []string, s cli.Streams) error {
		var p plan
		set := cli.Flags("fleet", s)
		set.DurationVar(&p.window, "window", 4*time.Second, "how long a measurement takes")
		set.IntVar(&p.indexes, "indexes", 10_000, "number of indexes in the row many")
		fast := set.Bool("fast", false, "-rounds 1 -window 300ms -indexes 300")
		if err := table.Parse(&p.Plan, set, args, func() error {
			if *fast {
				p.Rounds, p.window, p.indexes = 1, 300*time.Millisecond, 300
			}
			if p.window <= 0 || p.indexes < busyIndexes {
				return fmt.Errorf("-window has to be positive, and -indexes at least %d", busyIndexes)
			}
			return nil
		}); err != nil {
			return err
		}
		return table.Run(ctx, &p.Plan, &p, s.Out)
	},
}

// plan has the flags of a run.
type plan struct {
	rounds.Plan
	window  time.Duration // of one measurement
	indexes int           // known indexes in the row many
}

var table = rounds.Table[*plan]{Rounds: 5, Rows: []rounds.Row[*plan]{
	{Name: "crowd", What: "forty senders of a fleet, and a lone one with the same slots, budget and forty producers; all buffers are full", Measure: crowd},
	{Name: "live", What: "live updates in Expedited, without and with a BestEffort backfill of the same index that always has more", Measure: live},
	{Name: "sick", What: "forty indexes: one floods its sender and then fails; the other 39 use half of the slots", Measure: sick},
	{Name: "many", What: "known indexes, used indexes, and a hundred busy ones among them", Measure: many},
	{Name: "slot", What: "the cost of a slot", Measure: slot},
}}
