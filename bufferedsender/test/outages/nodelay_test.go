package outages

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/retry"
)

// While the cause of a failure is unknown, a document is tried at most twice a second, also without a delay.
func TestWithoutADelayADocumentThatHasUsedItsAttemptsIsTriedTwiceASecond(t *testing.T) {
	for name, answer := range map[string]sendertest.Answer{
		"the connection breaks": sendertest.BreakConnection, "500": sendertest.Always(500, ""), "503": sendertest.Always(503, ""), "a foreign 400": sendertest.Always(400, "<html>no"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opts := sendertest.WithBreaker(t)
				opts.Retry, opts.Limits = retry.Options{Delay: -1}, bufferedsender.Limits{MaxBatchActions: 10}
				r := sendertest.New(t, opts)
				tries := 0
				r.Respond(func(n int, x *sendertest.Request, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
					time.Sleep(10 * time.Millisecond)
					if slices.Contains(x.Keys, "bad-0") {
						tries++
						return answer(n, x, req, next)
					}
					return next()
				})
				r.Upload(sendertest.Hotels("bad", 1)...)
				for i := range 120 {
					r.Upload(sendertest.Hotels(fmt.Sprint("good-", i), 10)...)
					time.Sleep(time.Second)
				}
				assert.Error(t, r.Flush())
				assert.Less(t, tries, 200, "without the limit about 18 000 requests in two minutes")
			})
		})
	}
}
