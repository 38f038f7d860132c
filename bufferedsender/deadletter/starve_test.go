package deadletter_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/deadletter"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// However many dead letters the service still refuses, a few Replays reach those behind them, also if each is run by
// another process.
func TestLettersThatAreStillRefusedDoNotStarveLaterOnes(t *testing.T) {
	for _, n := range []int{999, 1000, 2001} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				rule := searchtest.Fault{Operation: searchtest.OpIndexDocuments}
				var letters []deadletter.Letter
				for i := range n + 10 {
					key := fmt.Sprint("k", i)
					if i < n {
						rule.Documents = append(rule.Documents, searchtest.DocumentFault{Keys: []string{key}, Status: 400, Message: "still bad"})
					}
					letters = append(letters, deadletter.Letter{Index: "hotels", Key: key, Action: models.ActionTypeUpload, Document: json.RawMessage(fmt.Sprintf(`{"id":%q}`, key)), Status: 400})
				}
				require.NoError(t, w.f.Write(t.Context(), letters))
				w.srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{rule}})
				delivered := 0
				for range 4 {
					sender := senderOf(w, bufferedsender.Options[hotel]{})
					began := time.Now()
					report, err := deadletter.Replay(t.Context(), w.f, "hotels", sender.Raw(), nil)
					t.Logf("%v %+v %v", time.Since(began), report, err)
					delivered += report.Delivered
					_ = sender.Close(t.Context())
					time.Sleep(5 * time.Minute)
				}
				require.Equal(t, 10, delivered)
			})
		})
	}
}
