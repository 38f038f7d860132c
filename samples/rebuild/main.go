// Command rebuild changes the analyzer of a field, which the service cannot change in place, while programs write
// five thousand documents a second and readers search. It builds a new index and moves the alias.
//
//	go run ./samples/rebuild           # SQLite in a temporary file, emulated service
//	go run ./samples/rebuild -v        # with the log of rebuild
//
// table.go is the part to copy: the source of the new index, a writer with a tap, and the rebuild. story.go has the
// writers, and a reader that checks every 10 ms that no document is missing. At the end it compares the new index
// with the table, and exits with 1 if they differ.
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
