// Command fleet keeps forty indexes of one service up to date with one fleet, and shows
// what they do to each other while things go wrong: next to nothing.
//
//	go run ./samples/fleet
//
// The index "products" gets live updates in the class Expedited and, in the second half, a
// backfill in BestEffort; the other indexes get a steady trickle. Meanwhile one index answers 503 for a
// while, and one is deleted. The service is emulated, and takes 25 ms for a request; a live update waits
// 50 ms at the most for others to share its request.
//
// indexes.go is the part that your program would have. story.go plays the world around it, and verify.go checks that
// every accepted document has exactly one outcome, and that what was completed is in its index.
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
