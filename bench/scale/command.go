// Package scale shows that processor time per document and memory of the process do not grow with the number of
// documents, producers and requests in flight.
//
//	go run . scale                                 # six to ten minutes
//	go run . scale -svg scale.svg                  # with a chart
//	go run . scale -fast                           # quick test with few documents
//	go run . scale -docs 1e5,1e6 -latency 0 -rounds 1
//
// A step is a number of documents, producers and requests in flight, and a latency. In each table one of these grows
// while the others stay:
//
//   - Documents grow in two tables, at the first latency: with one producer and one request in flight, and with four
//     producers and eight requests in flight.
//   - Producers grow at the first latency, with eight requests in flight and the median of -docs.
//   - Requests in flight grow at every latency, with four producers, because one cannot encode for sixteen requests.
//     Without latency each step sends the median of -docs. With latency a step sends a tenth of that per request in
//     flight, so that all steps take equally long as long as they only wait.
//
// Steps in two tables run once. Every step runs once per round, so that a slowdown of the machine affects all of
// them, and its figures are medians. Steps of more than two million documents run in the first round only.
//
// As in compare, each run and each sink is its own process, so processor time, allocations and memory are those of
// the sender and of generating the documents. All runs send the same documents of 650 bytes, one per call, in batches
// of 1 MB.
package scale

import (
	"context"

	"github.com/go-azsearch/azsearch/bench/internal/cli"
)

// Command fails if a run gives no figures or loses a document.
var Command = cli.Command{
	Name:  "scale",
	About: "check that processor time and memory do not grow with documents, producers and requests in flight",
	Run: func(ctx context.Context, args []string, s cli.Streams) error {
		var c commandLine
		if err := c.parse(args, s); err != nil {
			return err
		}
		return c.measure(ctx, s.Out, s.Err)
	},
	Tasks: map[string]cli.Task{"task": cli.TaskOf(func(ctx context.Context, t task) (*measurement, error) { return t.send(ctx) })},
}
