// Command rebuild shows how an index gets another analyzer, which the service does not change in place, while
// programs write five thousand documents a second and readers search.
//
//	go run ./samples/rebuild           # needs nothing: SQLite in a temporary file, and the service is emulated
//	go run ./samples/rebuild -v        # with what rebuild logs
//
// table.go is what your program would have: the truth that the new index is filled with, a writer with a tap, and the
// rebuild. story.go has the writers, and a reader that looks every 10 ms whether anything has vanished. At the end it
// compares the new index with the table, and exits with 1 if they differ.
package main

import (
	"context"

	"github.com/go-azsearch/azsearch/samples/internal/stage"
)

func main() { stage.Main("rebuild", program) }

func program(p *stage.Program) func(context.Context) error {
	logger := p.Logger()
	return func(ctx context.Context) error { return tell(ctx, logger, p.Out) }
}
