package events_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
)

type hotel struct {
	ID   string `json:"hotelId"`
	Name string `json:"name"`
}

// Handlers are an option of a sender. They run one at a time, except ActionAdded, so they need no locks.
func ExampleHandlers() {
	completed, failed := 0, 0
	handlers := events.Handlers[hotel]{
		ActionCompleted: func(_ context.Context, e *events.ActionCompleted[hotel]) {
			completed++
			fmt.Println("in the index:", e.Key, "with status", e.Result.StatusCode, "after attempt", e.Attempts)
		},
		ActionFailed: func(_ context.Context, e *events.ActionFailed[hotel]) {
			failed++
			fmt.Println("given up:", e.Action.Document.Name, "because", e.Err)
		},
	}

	// The sender calls them:
	ctx := context.Background()
	handlers.ActionCompleted(ctx, &events.ActionCompleted[hotel]{
		Key: "1", Result: models.IndexingResult{Key: "1", StatusCode: 201}, Attempts: 2,
	})
	handlers.ActionFailed(ctx, &events.ActionFailed[hotel]{
		Action: models.MergeAction(hotel{"2", "Sea View"}),
		Key:    "2", Err: errors.New("document not found"), Attempts: 1,
	})
	fmt.Println(completed, failed)
	// Output:
	// in the index: 1 with status 201 after attempt 2
	// given up: Sea View because document not found
	// 1 1
}

// Two parts of a program, a quota and an audit, use the same events.
func ExampleMulti() {
	quota := 1
	limit := events.Handlers[hotel]{
		ActionAdded: func(_ context.Context, e *events.ActionAdded[hotel]) error {
			if quota--; quota < 0 {
				return fmt.Errorf("over the quota of this tenant: %s", e.Key)
			}
			return nil
		},
	}
	audit := events.Handlers[hotel]{
		ActionAdded: func(_ context.Context, e *events.ActionAdded[hotel]) error {
			fmt.Println("audit:", e.Key)
			return nil
		},
	}
	handlers := events.Multi(limit, audit)

	// The sender calls them:
	for _, key := range []string{"1", "2"} {
		fmt.Println(handlers.ActionAdded(context.Background(), &events.ActionAdded[hotel]{Key: key}))
	}
	fmt.Println("wants ActionSent:", handlers.ActionSent != nil)
	// Output:
	// audit: 1
	// <nil>
	// over the quota of this tenant: 2
	// wants ActionSent: false
}
