// Package queue compares the file queue, which has its own log, with other stores: the same work, on the same disk,
// with the same durability, alternating.
//
//	go run . queue                              # everything: some minutes
//	go run . queue -only calls,lone -rounds 3
//	go run . queue -scale 0.01                  # quick test with a hundredth of the work
//
// Figures are medians of the rounds, with the range. CPU seconds are those of the process. On a busy machine they
// vary less than rates.
package queue

import (
	"context"

	"github.com/go-azsearch/azsearch/bench/internal/cli"
	"github.com/go-azsearch/azsearch/bench/internal/figures"
	"github.com/go-azsearch/azsearch/bench/internal/rounds"
)

// Command fails if a measurement fails or its result is wrong.
var Command = cli.Command{
	Name:  "queue",
	About: "the file queue and the Redis queue compared with other stores",
	Run: func(ctx context.Context, args []string, s cli.Streams) error {
		var p plan
		set := cli.Flags("queue", s)
		p.ScaleFlags(set)
		if err := table.Parse(&p, set, args, nil); err != nil {
			return err
		}
		return table.Run(ctx, &p, &p, s.Out)
	},
}

type (
	plan       = rounds.Plan
	contestant = rounds.Contestant[*plan]
	figure     = figures.Figure
)

var table = rounds.Table[*plan]{Rounds: 5, Rows: []rounds.Row[*plan]{
	{Name: "calls", What: "1000 documents of 650 bytes per call: Append, Reserve and Settle in sequence", Contestants: inTurns(throughCalls, ours, bolt, pebbly)},
	{Name: "lone", What: "64 callers with one document a call", Contestants: inTurns(loneCallers, ours, bolt, pebbly)},
	{Name: "recovery", What: "opening a queue in which 10⁶ keys wait", Contestants: inTurns(recovery, ours)},
	{Name: "through", What: "after 10⁷ documents have gone through and it is empty", Contestants: inTurns(throughAndEmpty, ours)},
	{Name: "hot", What: "10⁶ appends on 10⁴ keys while nothing is sent", Contestants: []contestant{{Name: ours.name, Measure: hotKeys}}},
	{Name: "redis", What: "1000 documents a call through a server on this machine, appendfsync everysec: Append, then Exchange, which also commits the previous keys", Contestants: keepsUp},
	{Name: "behind", What: "the same, with all documents appended before the first Exchange", Contestants: isBehind},
	{Name: "sender", What: "100 documents per call; the clock stops when all have arrived at a sink, another process", Contestants: senders},
}}
