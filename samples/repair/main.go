// Command repair shows how an index is made like its table again, whatever has happened to it, while an application
// writes at full speed.
//
//	go run ./samples/repair            # needs nothing: SQLite in a temporary file, and the service is emulated
//	go run ./samples/repair -for 60s
//
// table.go is what your program would have: the table as a source, and the index as rows. lost.go finds the writes of a
// sender that got lost, among any number of keys, without reading the index. story.go has the application, a culprit
// that deletes, changes and invents documents behind its back, and the repair at the same time. At the end it compares
// index and table, and exits with 1 if they differ.
package main

import (
	"context"
	"time"

	"github.com/go-azsearch/azsearch/samples/internal/stage"
)

func main() { stage.Main("repair", program) }

func program(p *stage.Program) func(context.Context) error {
	length := p.Duration("for", 6*time.Second, "let all write for so `long`")
	return func(ctx context.Context) error { return tell(ctx, *length, p.Out) }
}
