package queuefiles

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/testkit"
)

func TestMain(m *testing.M) {
	Main()
	testkit.Main(m)
}

func program(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

func TestFilesAgreeWithTheModel(t *testing.T) {
	rounds := uint64(10)
	if testing.Short() {
		rounds = 2
	}
	for seed := range rounds {
		_, err := Run(program(seed), Options{})
		require.NoError(t, err, "seed %d", seed)
	}
}

// forgets is a queue that acknowledges a long call but drops its last record.
type forgets struct{ Queue }

func (q forgets) Append(ctx context.Context, c queue.Call) (queue.Receipt, error) {
	if n := len(c.Records); n > 6 {
		c.Records = c.Records[:n-1]
	}
	return q.Queue.Append(ctx, c)
}

// unpauses is a queue whose pause ends when it is reopened.
type unpauses struct{ Queue }

func (q unpauses) Close() error {
	_ = q.Resume(context.Background()) // fails if it was closed before
	return q.Queue.Close()
}

func TestAQueueThatForgetsIsFound(t *testing.T) {
	for name, wrap := range map[string]func(Queue) Queue{
		"a record": func(q Queue) Queue { return forgets{q} },
		"a pause":  func(q Queue) Queue { return unpauses{q} },
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(100) {
				if _, err := Run(program(seed), Options{Wrap: wrap}); err != nil {
					require.ErrorContains(t, err, "possible states")
					return
				}
			}
			t.Fatal("a hundred programs have not found it")
		})
	}
}
