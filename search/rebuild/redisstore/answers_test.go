package redisstore

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"

	"github.com/go-azsearch/azsearch/internal/rediskit"
	"github.com/go-azsearch/azsearch/internal/testkit/servers"
	"github.com/go-azsearch/azsearch/search/rebuild"
)

// odd is a client whose server gives the same reply to every script.
type odd struct {
	*redis.Client
	answer any
}

func (c *odd) EvalSha(ctx context.Context, _ string, _ []string, _ ...any) *redis.Cmd {
	cmd := redis.NewCmd(ctx)
	cmd.SetVal(c.answer)
	return cmd
}

// An invalid reply must not count as a changed record, as removed marks, or as a list of writers.
func TestAnswerThatNoScriptGivesIsAnError(t *testing.T) {
	c := &odd{Client: newClient(t, servers.Redis(t))}
	s := newStore(t, c, Options{})
	for name, one := range map[string]struct {
		answer any
		call   func() error
	}{
		"Load gets a text":                  {"1", func() error { _, err := s.Load(t.Context()); return err }},
		"Swap gets a number":                {int64(1), func() error { _, err := s.Swap(t.Context(), rebuild.Record{}); return err }},
		"Mark gets a number":                {int64(1), func() error { _, err := s.Mark(t.Context(), 1, []string{"a"}); return err }},
		"Marked gets a text":                {"a", func() error { _, err := s.Marked(t.Context(), 1, 10); return err }},
		"Marked has a mark without a key":   {[]any{"0000000000000000"}, func() error { _, err := s.Marked(t.Context(), 1, 10); return err }},
		"Unmark gets a number":              {int64(1), func() error { return s.Unmark(t.Context(), 1, []string{"a"}) }},
		"Unmark returns nothing":            {nil, func() error { return s.Unmark(t.Context(), 1, []string{"a"}) }},
		"Load has a third part":             {[]any{"1", "{}", "x"}, func() error { _, err := s.Load(t.Context()); return err }},
		"Load has a version without digits": {[]any{"x", "{}"}, func() error { _, err := s.Load(t.Context()); return err }},
		"Writers gets a number":             {int64(1), func() error { _, err := s.Writers(t.Context()); return err }},
		"Writers has no cursor":             {[]any{int64(0), []any{}}, func() error { _, err := s.Writers(t.Context()); return err }},
		"Writers has a name without time":   {[]any{"0", []any{"1"}}, func() error { _, err := s.Writers(t.Context()); return err }},
	} {
		c.answer = one.answer
		assert.ErrorIs(t, one.call(), rediskit.ErrAnswer, name)
	}
}
