package redisqueue

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// Silence stops the Redis client library from writing to stderr, for the whole process. Use it in programs whose stderr
// is read by people. The returned errors have the same information.
func Silence() { redis.SetLogger(silent{}) }

type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}
