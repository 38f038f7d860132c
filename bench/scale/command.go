// Package scale is for whoever wants to know whether the sender stays as cheap
// as it is when there is more of everything: it shows that the processor time of
// a document and the memory of the process do not grow with the number of
// documents, of producers and of requests in flight.
//
//	go run . scale                                 # six to ten minutes
//	go run . scale -svg scale.svg                  # and a chart of it
//	go run . scale -fast                           # few documents: does it run at all?
//	go run . scale -docs 1e5,1e6 -latency 0 -rounds 1
//
// A step is a number of documents, of producers and of requests in flight, and
// how long a request takes. Not every combination is a step: in each table one
// of them grows while the others stay.
//
//   - Documents grow twice, at the first latency: with one producer and one
//     request in flight, and with four producers and eight requests in flight.
//   - Producers grow at the first latency, with eight requests in flight and the
//     median of -docs.
//   - Requests in flight grow at every latency, with four producers, because one
//     cannot encode as much as sixteen requests carry. Where there is no latency
//     each step sends the median of -docs. Where there is one, a step sends a
//     tenth of that for each request in flight, so that every step sends equally
//     long as long as waiting is all that it does.
//
// Steps that two tables have in common run once. Every step has a turn in each
// round, so that a machine that gets slower does so for all, and its figures are
// the medians. Steps of more than two million documents have one turn.
//
// As in compare a run is a process of its own, and its sink another one:
// processor time, allocations and memory are those of the sender and of making
// the documents. All runs send the same documents, of 650 bytes, one a call, in
// batches of 1 MB.
package scale

import (
	"context"

	"github.com/go-azsearch/azsearch/bench/internal/cli"
)

// Command fails if a run gave no figures or a document was lost.
var Command = cli.Command{
	Name:  "scale",
	About: "whether processor time and memory grow with documents, producers and requests in flight",
	Run: func(ctx context.Context, args []string, s cli.Streams) error {
		var c commandLine
		if err := c.parse(args, s); err != nil {
			return err
		}
		return c.measure(ctx, s.Out, s.Err)
	},
	Tasks: map[string]cli.Task{"task": cli.TaskOf(func(ctx context.Context, t task) (*measurement, error) { return t.send(ctx) })},
}
