package redisqueue

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// Silence ends what the client library writes to stderr on its own account, in the whole process: for
// programs whose stderr is read by people. What matters is in the errors.
func Silence() { redis.SetLogger(silent{}) }

type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}
