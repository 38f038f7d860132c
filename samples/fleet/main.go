// Command fleet keeps forty indexes of one service up to date with one fleet, and shows that faults of one index
// hardly affect the others.
//
//	go run ./samples/fleet
//
// The index "products" gets live updates in the class Expedited and, in the second half, a backfill in BestEffort.
// The other indexes get a steady trickle. Meanwhile one index answers 503 for a while, and one is deleted. The
// service is emulated and takes 25 ms per request; a live update waits up to 50 ms for others that share its request.
//
// indexes.go is the part to copy. story.go writes and causes the faults. verify.go checks that every accepted
// document has exactly one outcome and that completed documents are in their index.
package main

import (
	"context"
	"time"

	"github.com/go-azsearch/azsearch/samples/internal/stage"
)

func main() { stage.Main("fleet", program) }

func program(p *stage.Program) func(context.Context) error {
	lasts := p.Duration("for", 6*time.Second, "write for this `DURATION`, half of it without the backfill")
	logger := p.Logger()
	return func(ctx context.Context) error { return play(ctx, *lasts, logger, p.Out) }
}
