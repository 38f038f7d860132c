// Package repair measures the cost of comparing. It compares a million documents of the emulated service with a
// generated source, and ten million generated rows with each other. It also repairs one document of a hundred,
// deletes one of ten by filter, rebuilds an index, keeps a digest tree, and repairs while writers run.
//
//	go run . repair                    # everything: some ten minutes
//	go run . repair -only compare -rounds 1
//	go run . repair -fast              # quick test; the figures mean little
//
// All figures except bytes compare measurements that alternate within one run.
package repair

import (
	"context"
	"errors"
	"time"

	"github.com/go-azsearch/azsearch/bench/internal/cli"
	"github.com/go-azsearch/azsearch/bench/internal/rounds"
)

// Command fails if a measurement fails or its result is wrong.
var Command = cli.Command{
	Name:  "repair",
	About: "the cost of comparing an index with its source, of repairing, rebuilding and deleting",
	Run: func(ctx context.Context, args []string, s cli.Streams) error {
		var p plan
		set := cli.Flags("repair", s)
		set.IntVar(&p.documents, "documents", 1_000_000, "documents in the emulator")
		set.IntVar(&p.rows, "rows", 10_000_000, "rows that the row large generates")
		set.DurationVar(&p.window, "window", 4*time.Second, "duration of writing")
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

// plan has the flags of a run.
type plan struct {
	rounds.Plan
	documents int           // in the emulator
	rows      int           // generated ones
	window    time.Duration // duration of writing
}

var questions = rounds.Table[*plan]{Rounds: 3, Rows: []rounds.Row[*plan]{
	{Name: "compare", What: "an index of the emulator that equals its generated source", Measure: compareIndex},
	{Name: "large", What: "both sides generated, without differences", Measure: large},
	{Name: "differences", What: "one document of a hundred is missing in the emulator; for comparison the same number of documents is sent", Measure: differences},
	{Name: "delete", What: "a tenth of the documents deleted by filter, and as many by their keys; 50 ms are added to each request", Measure: deleteWhere},
	{Name: "rebuild", What: "an index rebuilt behind its alias while a writer runs, and a plain load of the same documents; all waits are minimal", Measure: rebuildAtOnce},
	{Name: "rebuild-remote", What: "the same, with 20 ms added to each request", Measure: rebuildRemote},
	{Name: "tree", What: "all documents, of 650 bytes, sent to a sink, another process, without handlers, with one that does nothing, and with a digest tree, alternating", Measure: keepTree},
	{Name: "live", What: "writers at the full rate of a service that takes 50 ms per request, without and with concurrent passes", Measure: live},
}}
