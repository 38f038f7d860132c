// Command repair makes an index equal to its table again after other programs changed the index, while an application
// writes at full speed.
//
//	go run ./samples/repair            # SQLite in a temporary file, emulated service
//	go run ./samples/repair -for 60s
//
// table.go is the part to copy: the table as a source, and the index as rows. lost.go finds lost writes of a sender,
// among any number of keys, without reading the index. story.go runs the application, a culprit that deletes, changes
// and adds documents directly in the index, and the repair. At the end it compares index and table, and exits with 1
// if they differ.
package main

import (
	"context"
	"time"

	"github.com/go-azsearch/azsearch/samples/internal/stage"
)

func main() { stage.Main("repair", program) }

func program(p *stage.Program) func(context.Context) error {
	length := p.Duration("for", 6*time.Second, "write for this `DURATION`")
	return func(ctx context.Context) error { return tell(ctx, *length, p.Out) }
}
