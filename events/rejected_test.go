package events_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
)

// verdict is an error that reports whether the document is to blame, as a sender's errors do.
type verdict bool

func (v verdict) Error() string  { return fmt.Sprintf("rejected: %t", bool(v)) }
func (v verdict) Rejected() bool { return bool(v) }

var failures = map[string]struct {
	err      error
	rejected bool
}{
	"the service rejects the document":  {verdict(true), true},
	"a rejection inside another error":  {fmt.Errorf("book 7: %w", verdict(true)), true},
	"a rejection next to another error": {errors.Join(errors.New("cut"), verdict(true)), true},
	"the document is not to blame":      {verdict(false), false},
	"no rejection in a wrapped error":   {fmt.Errorf("book 7: %w", verdict(false)), false},
	"an error without a verdict":        {errors.New("status 400"), false},
	"the end of a context":              {context.Canceled, false},
	"nil, which no sender reports":      {nil, false},
}

func TestRejectedIsWhatTheErrorSays(t *testing.T) {
	for name, c := range failures {
		t.Run(name, func(t *testing.T) {
			for _, result := range []*models.IndexingResult{nil, {StatusCode: 400}, {StatusCode: 503}} {
				e := &events.ActionFailed[doc]{Err: c.err, Result: result}
				require.Equal(t, c.rejected, e.Rejected(), "the result does not matter: %v", result)
			}
		})
	}
}

// Without Skip the mark never passes a document that is in neither the index nor the dead letters.
func TestMarkPassesOfItselfWhatIsRejectedAndADeadLetter(t *testing.T) {
	for name, c := range failures {
		for _, letter := range []bool{true, false} {
			t.Run(fmt.Sprint(name, letter), func(t *testing.T) {
				var w events.LowWatermark[int64]
				h := events.Track[doc](offsetOf, nil)
				require.NoError(t, h.ActionAdded(t.Context(), &events.ActionAdded[doc]{Action: tagged(&w, 5)}))
				h.ActionFailed(t.Context(), &events.ActionFailed[doc]{Action: tagged(&w, 5), Err: c.err, DeadLetter: letter})
				_, passed := w.Mark()
				require.Equal(t, c.rejected && letter, passed)
			})
		}
	}
}

// A rejected document must not stop commits for good, and a document that failed for another reason must not be
// passed.
func TestMarkPassesWhatIsRejectedAndIsHeldByOtherFailures(t *testing.T) {
	for name, c := range failures {
		t.Run(name, func(t *testing.T) {
			var w events.LowWatermark[int64]
			h := events.Track[doc](offsetOf, &events.TrackOptions[doc]{
				Skip: func(_ context.Context, e *events.ActionFailed[doc]) bool { return e.Rejected() },
			})
			require.NoError(t, h.ActionAdded(t.Context(), &events.ActionAdded[doc]{Action: tagged(&w, 5)}))
			h.ActionFailed(t.Context(), &events.ActionFailed[doc]{Action: tagged(&w, 5), Err: c.err})
			_, passed := w.Mark()
			require.Equal(t, c.rejected, passed)
		})
	}
}
