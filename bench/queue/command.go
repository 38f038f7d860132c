// Package queue is for whoever doubts that the file queue should have a log of its own: it
// puts it and stores that could have been used instead through the same work, on the same disk, at
// the same durability, in turns.
//
//	go run . queue                              # everything: some minutes
//	go run . queue -only calls,lone -rounds 3
//	go run . queue -scale 0.01                  # a hundredth of the work, to try it
//
// Figures are medians of the rounds, with the range. CPU seconds are those of the process, and steadier
// than rates on a machine that does other work.
package queue

import (
	"context"

	"github.com/go-azsearch/azsearch/bench/internal/cli"
	"github.com/go-azsearch/azsearch/bench/internal/figures"
	"github.com/go-azsearch/azsearch/bench/internal/rounds"
)

// Command fails if something could not be measured or came out wrong.
var Command = cli.Command{
	Name:  "queue",
	About: "the file queue and the queue in Redis beside stores that could have been used instead",
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
	{Name: "calls", What: "1000 documents a call of 650 bytes: Append, Reserve and Settle, one after the other", Contestants: inTurns(throughCalls, ours, bolt, pebbly)},
	{Name: "lone", What: "64 callers with one document a call", Contestants: inTurns(loneCallers, ours, bolt, pebbly)},
	{Name: "recovery", What: "opening a queue in which 10⁶ keys wait", Contestants: inTurns(recovery, ours)},
	{Name: "through", What: "after 10⁷ documents have gone through and it is empty", Contestants: inTurns(throughAndEmpty, ours)},
	{Name: "hot", What: "10⁶ appends on 10⁴ keys while nothing is sent", Contestants: []contestant{{Name: ours.name, Measure: hotKeys}}},
	{Name: "redis", What: "1000 documents a call through a server on this machine, appendfsync everysec: Append, then Exchange, which commits what was taken before", Contestants: keepsUp},
	{Name: "behind", What: "the same, but all is appended before anything is taken", Contestants: isBehind},
	{Name: "sender", What: "100 documents a call, all of which arrive at a sink, another process, before the clock stops", Contestants: senders},
}}
