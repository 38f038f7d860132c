// Package fleet is for whoever doubts that many senders can share one service: it puts a fleet beside a lone sender,
// live updates beside a backfill, healthy indexes beside a sick one, and a hundred busy indexes beside ten thousand
// idle ones.
//
//	go run . fleet                          # everything: eight to ten minutes
//	go run . fleet -only live,sick -rounds 3
//	go run . fleet -only many -profile profiles
//	go run . fleet -fast                    # does it run? Figures that mean little
//
// The service is in the process: a request takes 50 ms and no processor time, so slots and the size of batches decide
// what it takes, which is below half of the processors. All figures but bytes and nanoseconds compare what was
// measured in turns, in one run.
package fleet

import (
	"context"
	"fmt"
	"time"

	"github.com/go-azsearch/azsearch/bench/internal/cli"
	"github.com/go-azsearch/azsearch/bench/internal/rounds"
)

// Command fails if something could not be measured or a document was lost.
var Command = cli.Command{
	Name:  "fleet",
	About: "many senders that share one service: beside a lone one, live beside a backfill, healthy beside sick, idle by the thousand",
	Run: func(ctx context.Context, args []string, s cli.Streams) error {
		var p plan
		set := cli.Flags("fleet", s)
		set.DurationVar(&p.window, "window", 4*time.Second, "how long a measurement takes")
		set.IntVar(&p.indexes, "indexes", 10_000, "how many indexes there are in the row many")
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

// plan is what is measured.
type plan struct {
	rounds.Plan
	window  time.Duration // of one measurement
	indexes int           // that are known, of the row many
}

var table = rounds.Table[*plan]{Rounds: 5, Rows: []rounds.Row[*plan]{
	{Name: "crowd", What: "forty senders of a fleet, and a lone one with as many slots, the same budget and the same forty producers; all buffers are full", Measure: crowd},
	{Name: "live", What: "live updates in Expedited, without and with a BestEffort backfill of the same index that always has more", Measure: live},
	{Name: "sick", What: "forty indexes, of which one floods its sender and becomes sick; the other 39 use half of the slots", Measure: sick},
	{Name: "many", What: "indexes that are known, that have been used, and a hundred busy ones among them", Measure: many},
	{Name: "slot", What: "what a slot costs", Measure: slot},
}}
