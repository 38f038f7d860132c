package simulate

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bench/internal/cli"
	"github.com/go-azsearch/azsearch/events"
)

func bodyOf(docs []document) *strings.Reader {
	var b strings.Builder
	b.WriteString(`{"value":[`)
	for i, d := range docs {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`{"@search.action":"upload","id":"` + d.ID + `"}`)
	}
	b.WriteString(`]}`)
	return strings.NewReader(b.String())
}

func TestTheServiceQueuesThenRefusesAPartThenTheWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, l := newService(1), &ledger{prefix: "a-"}
		s.setCapacity(100)
		began := time.Now()
		answered := make(chan error)
		go func() {
			_, err := s.answer(t.Context(), l, bodyOf(l.next(150)))
			answered <- err
		}()
		synctest.Wait()
		result, err := s.answer(t.Context(), l, bodyOf(l.next(100)))
		require.NoError(t, <-answered)
		require.NoError(t, err)
		assert.Equal(t, http.StatusMultiStatus, result.StatusCode)
		assert.True(t, result.Results[49].Succeeded)
		assert.Equal(t, http.StatusServiceUnavailable, result.Results[50].StatusCode)
		assert.Equal(t, 2*time.Second+25*time.Millisecond+quickest, time.Since(began), "refusing fifty documents takes the time of two and a half")

		s.busyUntil = time.Now().Add(longestQueue)
		_, err = s.answer(t.Context(), l, bodyOf(l.next(1)))
		assert.ErrorAs(t, err, new(busyError))
		assert.EqualValues(t, 200, s.seconds[1].applied+s.seconds[2].applied)
		assert.Equal(t, 1, s.seconds[2].refused)
	})
}

func TestAnOutageCutsWhatIsUnderWayAndRefusesTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, l := newService(1), &ledger{prefix: "a-"}
		s.setCapacity(100)
		cut := make(chan error)
		go func() {
			_, err := s.answer(t.Context(), l, bodyOf(l.next(100)))
			cut <- err
		}()
		time.Sleep(500 * time.Millisecond)
		s.setCapacity(0)
		assert.ErrorIs(t, <-cut, errCut)
		_, err := s.answer(t.Context(), l, bodyOf(l.next(1)))
		assert.ErrorIs(t, err, errRefused)
		s.setCapacity(100)
		_, err = s.answer(t.Context(), l, bodyOf(l.next(1)))
		assert.NoError(t, err)
	})
}

// Each row breaks one promise of a sender.
func TestTheLedgerFindsBrokenPromises(t *testing.T) {
	completed := func(l *ledger, key string) {
		l.complete(context.Background(), &events.ActionCompleted[document]{Key: key})
	}
	failed := func(l *ledger, key string, unknown bool) {
		l.fail(context.Background(), &events.ActionFailed[document]{Key: key, Err: context.Canceled, Unknown: unknown})
	}
	for name, row := range map[string]struct {
		does func(l *ledger)
		want string
	}{
		"nothing wrong":                        {func(l *ledger) { l.apply([]string{"a-0"}); completed(l, "a-0") }, ""},
		"correct, with unknown outcomes":       {func(l *ledger) { l.apply([]string{"a-0"}); failed(l, "a-0", true) }, ""},
		"completed, and not applied":           {func(l *ledger) { completed(l, "a-0") }, "not applied"},
		"failed, and applied":                  {func(l *ledger) { l.apply([]string{"a-0"}); failed(l, "a-0", false) }, "was applied"},
		"two outcomes":                         {func(l *ledger) { l.apply([]string{"a-0"}); completed(l, "a-0"); completed(l, "a-0") }, "two outcomes"},
		"a document that no producer has made": {func(l *ledger) { l.apply([]string{"b-0"}) }, "no producer has added"},
	} {
		t.Run(name, func(t *testing.T) {
			l := &ledger{prefix: "a-"}
			l.next(1)
			row.does(l)
			if row.want == "" {
				assert.Empty(t, l.wrong)
				return
			}
			require.Len(t, l.wrong, 1)
			assert.Contains(t, l.wrong[0], row.want)
		})
	}
}

func TestFairnessIsOneIfAllHaveTheSame(t *testing.T) {
	assert.InDelta(t, 1, jain([]float64{3, 3, 3}), 1e-9)
	assert.InDelta(t, 0.25, jain([]float64{0, 8, 0, 0}), 1e-9)
}

func TestWhatIsMissingIsLost(t *testing.T) {
	assert.EqualValues(t, 0, (&outcome{accepted: 10, completed: 7, held: 3}).lost())
	assert.EqualValues(t, 3, (&outcome{accepted: 10, completed: 7}).lost())
	assert.EqualValues(t, 2, (&outcome{accepted: 10, completed: 8, failed: 2}).lost())
}

func TestAPlanThatCannotBeIsRefused(t *testing.T) {
	for _, args := range [][]string{{"-policy", "none"}, {"-processes", "1"}, {"-minute", "10ms"}, {"more"}} {
		_, err := parse(args, cli.Streams{Err: t.Output()})
		assert.Error(t, err, "%v", args)
	}
}
