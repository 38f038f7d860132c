// Package sink is the server of benchmarks: it replies to batches on loopback, in its own process, and counts them.
//
//	go run . sink -latency 100ms
//
// It prints its address as the first line, replies to GET /_sink/stats with its counts, and exits when its standard
// input is closed.
package sink

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/go-azsearch/azsearch/bench/internal/child"
	"github.com/go-azsearch/azsearch/bench/internal/cli"
	"github.com/go-azsearch/azsearch/bench/internal/corpus"
	"github.com/go-azsearch/azsearch/bench/sink/server"
	"github.com/go-azsearch/azsearch/models"
)

// Command runs the sink. Other commands start it.
var Command = cli.Command{
	Name:  "sink",
	About: "a server that replies to batches and counts them, for other commands; exits when its standard input is closed",
	Run:   run,
}

// run serves until standard input ends.
func run(ctx context.Context, args []string, std cli.Streams) error {
	var c server.Config
	set := cli.Flags("sink", std)
	set.DurationVar(&c.Latency, "latency", 0, "how long a request takes at least")
	set.IntVar(&c.RefuseStatus, "refuse", http.StatusServiceUnavailable, "`status` of refused requests")
	set.IntVar(&c.RefuseFirst, "refuse-first", 0, "refuse the first `n` requests")
	set.Float64Var(&c.RefuseRate, "refuse-rate", 0, "refuse this `share` of the requests, 0 to 1")
	set.Int64Var(&c.MaxBody, "max-body", 0, "answer 413 to bodies of more than `bytes`")
	set.IntVar(&c.ItemStatus, "item", http.StatusTooManyRequests, "`status` of refused documents")
	set.Float64Var(&c.ItemRate, "item-rate", 0, "refuse this `share` of the documents once each, 0 to 1")
	if err := cli.Parse(set, args, c.Validate); err != nil {
		return err
	}
	fields, err := models.FieldsOf[corpus.Hotel]()
	if err != nil {
		return err
	}
	if c.Definition, err = json.Marshal(models.SearchIndex{Name: corpus.IndexName, Fields: fields}); err != nil {
		return err
	}
	s, err := server.New(c)
	if err != nil {
		return err
	}
	return child.Serve(ctx, std, s)
}
