package retry

import (
	"fmt"
	"testing"

	"github.com/cenkalti/backoff/v4"
	"github.com/stretchr/testify/assert"
)

type foreignReply int

func (s foreignReply) Error() string   { return fmt.Sprint("foreign ", int(s)) }
func (s foreignReply) HTTPStatus() int { return int(s) }
func (foreignReply) Foreign() bool     { return true }

func TestAForeignReplyIsRetriedWhateverItsStatus(t *testing.T) {
	for status := 300; status < 600; status++ {
		decision, got := ForError(fmt.Errorf("wrapped: %w", foreignReply(status)))
		assert.Equal(t, status, got)
		if status == 413 {
			assert.Equal(t, ForRequest(413), decision, "its verdict about the size of a batch is accepted")
			continue
		}
		assert.Equal(t, Retry, decision.Verdict, status)
		assert.True(t, decision.Pause, status)
		assert.False(t, decision.Permanent, status)
		if own := ForRequest(status); own.Verdict == Retry {
			assert.Equal(t, own, decision, "the verdict is that of the service")
		}
	}
	decision, _ := ForError(backoff.Permanent(foreignReply(400)))
	assert.Equal(t, Fail, decision.Verdict, "a header vouches for it")
}
