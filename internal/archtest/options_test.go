package archtest

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mostOptions limits the number of options. It only decreases.
const mostOptions = 98

func TestOptionsBecomeFewer(t *testing.T) {
	names, err := Exported(os.DirFS(root))
	require.NoError(t, err)
	u := used(t)
	options := u.Options(names)
	assert.LessOrEqual(t, len(options), mostOptions, "take an option away for each new one:\n%s", strings.Join(options, "\n"))
	assert.GreaterOrEqual(t, len(options), mostOptions, "lower mostOptions")
	assert.Contains(t, options, "retry.Options.MaxDelay", "a duration")
	assert.Contains(t, options, "bufferedsender/repair.Options.Splits", "a list")
	assert.Contains(t, options, "bufferedsender/queue/redisqueue.Options.Durability", "a constant of a type")
	assert.NotContains(t, options, "bufferedsender/pool.Options.maxWaiting", "not exported")
	assert.NotContains(t, options, "bufferedsender/fleet.Options.Logger", "a part")
	assert.NotContains(t, options, "search/searchtest.Options.Latency", "of a test")
	assert.NotContains(t, options, "bufferedsender.FlushOptions.Keys", "of a call")
}
