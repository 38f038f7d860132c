package outages

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/internal/testkit"
)

// A proxy resets the connection of a body above its limit, without a reply.
func TestRequestsThatAreCutForTheirSizeGetSmaller(t *testing.T) {
	for name, opts := range map[string]*sendertest.Options{"hold": sendertest.WithBreaker(t), "fail soon": {}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				docs := testkit.Cases(3000, 4000, 12_000)
				r := sendertest.New(t, opts)
				r.Respond(sendertest.When(func(_ int, x *sendertest.Request) bool { return x.Bytes > 256<<10 }, sendertest.BreakConnection))
				for _, d := range sendertest.Hotels("k", docs) {
					r.Upload(sendertest.HotelOfSize(d.ID, 1000))
				}
				require.NoError(t, r.Flush())
				most := 5 * time.Second
				if name == "fail soon" { // learns nothing, because no failure makes it hold back
					most = time.Minute
				}
				assert.LessOrEqual(t, r.Now(), most)
			})
		})
	}
}

func TestADocumentThatCutsItsConnectionFailsNoOtherWithFailSoon(t *testing.T) {
	for _, killers := range [][]string{{"k-0"}, {"k-17"}, {"k-49"}, {"k-0", "k-17"}, {"k-25", "k-49"}} {
		t.Run(fmt.Sprint(killers), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, &sendertest.Options{})
				cuts := func(_ int, x *sendertest.Request) bool {
					return slices.ContainsFunc(killers, func(k string) bool { return slices.Contains(x.Keys, k) })
				}
				r.Respond(sendertest.When(cuts, sendertest.BreakConnection))
				r.Upload(sendertest.Hotels("k", 50)...)
				assert.Equal(t, len(killers), sendertest.FlushFailures(t, r.Flush()))
				for _, k := range killers {
					assert.NotContains(t, r.Indexed(), k)
				}
			})
		})
	}
}

// A split for one bad document must not count as an outage.
func TestAnOutageEndsSoonWithFailSoon(t *testing.T) {
	for name, works := range map[string]int{"from the start": 0, "after a request": 1} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxInFlight: 1}})
				r.Respond(sendertest.When(func(n int, _ *sendertest.Request) bool { return n > works }, sendertest.BreakConnection))
				if works > 0 {
					r.Upload(sendertest.Hotel{ID: "passes"})
					require.NoError(t, r.Flush())
				}
				began, before := r.Now(), len(r.Requests())
				for _, d := range sendertest.Hotels("k", 1000) {
					r.Upload(sendertest.HotelOfSize(d.ID, 1000))
				}
				assert.Equal(t, 1000, sendertest.FlushFailures(t, r.Flush()))
				assert.LessOrEqual(t, r.Now()-began, 15*time.Second)
				assert.LessOrEqual(t, len(r.Requests())-before, 6)
			})
		})
	}
}
