// Package repair is for whoever wants to know what comparing costs: it compares a million documents of the emulated
// service with a source that is generated, ten million rows on both sides, repairs one document of a hundred, deletes
// one of ten by filter, rebuilds an index, keeps a digest tree, and repairs beside writers.
//
//	go run . repair                    # everything: some ten minutes
//	go run . repair -only compare -rounds 1
//	go run . repair -fast              # does it run? Figures that mean little
//
// All figures but bytes compare what was measured in turns, in one run.
package repair

import (
	"context"
	"errors"
	"time"

	"github.com/go-azsearch/azsearch/bench/internal/cli"
	"github.com/go-azsearch/azsearch/bench/internal/rounds"
)

// Command fails if something could not be measured or is wrong.
var Command = cli.Command{
	Name:  "repair",
	About: "what it costs to compare an index with its source, to repair, rebuild and delete",
	Run: func(ctx context.Context, args []string, s cli.Streams) error {
		var p plan
		set := cli.Flags("repair", s)
		set.IntVar(&p.documents, "documents", 1_000_000, "how many the emulator has")
		set.IntVar(&p.rows, "rows", 10_000_000, "how many are generated in the row large")
		set.DurationVar(&p.window, "window", 4*time.Second, "how long writers write")
		fast := set.Bool("fast", false, "-rounds 1 -documents 3000 -rows 100000 -window 500ms")
		if err := questions.Parse(&p.Plan, set, args, func() error {
			if *fast {
				p.Rounds, p.documents, p.rows, p.window = 1, 3000, 100_000, 500*time.Millisecond
			}
			if p.documents < 1000 || p.rows < 1000 || p.window <= 0 {
				return errors.New("-window has to be positive, and -documents and -rows at least 1000")
			}
			return nil
		}); err != nil {
			return err
		}
		return questions.Run(ctx, &p.Plan, &p, s.Out)
	},
}

// plan is what is measured.
type plan struct {
	rounds.Plan
	documents int           // in the emulator
	rows      int           // that are generated
	window    time.Duration // of writers
}

var questions = rounds.Table[*plan]{Rounds: 3, Rows: []rounds.Row[*plan]{
	{Name: "compare", What: "an index of the emulator that is as its source, which is generated", Measure: compareIndex},
	{Name: "large", What: "both sides generated, without differences", Measure: large},
	{Name: "differences", What: "one document of a hundred is missing in the emulator; beside it, as many documents sent", Measure: differences},
	{Name: "delete", What: "a tenth of the documents deleted by filter, and as many by their keys; a request takes 50 ms longer than the emulator needs", Measure: deleteWhere},
	{Name: "rebuild", What: "an index rebuilt behind its alias beside a writer, and a plain load of as many documents; waits are as short as they may be", Measure: rebuildAtOnce},
	{Name: "rebuild-remote", What: "the same, and a request takes 20 ms longer than the emulator needs", Measure: rebuildRemote},
	{Name: "tree", What: "all documents, of 650 bytes, sent to a sink, another process, by senders without handlers of events, with one that does nothing, and with a digest tree, in turns", Measure: keepTree},
	{Name: "live", What: "writers at full speed to a service that takes 50 ms, and is what decides how many that are, without and with passes beside them", Measure: live},
}}
