package test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A proxy that resets the connection of a body that is too large for it, without an answer.
func TestRequestsThatAreCutForTheirSizeGetSmaller(t *testing.T) {
	for name, opts := range map[string]*sendertest.Options{"hold": sendertest.WithBreaker(t), "fail soon": {}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const docs = 12_000
				r := sendertest.New(t, opts)
				r.Respond(sendertest.When(func(_ int, x *sendertest.Request) bool { return x.Bytes > 256<<10 }, sendertest.BreakConnection))
				for _, d := range sendertest.Hotels("k", docs) {
					r.Upload(sendertest.HotelOfSize(d.ID, 1000))
				}
				require.NoError(t, r.Flush())
				assert.LessOrEqual(t, r.Now(), 5*time.Second)
			})
		})
	}
}

func TestADocumentThatCutsItsConnectionFailsNoOtherWithFailSoon(t *testing.T) {
	for _, killer := range []string{"k-0", "k-17", "k-49"} {
		t.Run(killer, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, &sendertest.Options{})
				r.Respond(sendertest.When(sendertest.Carrying(killer), sendertest.BreakConnection))
				r.Upload(sendertest.Hotels("k", 50)...)
				assert.Equal(t, 1, sendertest.FlushFailures(t, r.Flush()))
				assert.NotContains(t, r.Indexed(), killer)
			})
		})
	}
}
