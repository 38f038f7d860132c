package repair

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
)

// withdrawer is a sender whose withdrawals are not hidden by stops.
type withdrawer struct {
	*stops
	models.Withdrawer
}

func TestWhatIsInNoRequestWhenAPassEndsIsNeverSent(t *testing.T) {
	for _, can := range []bool{false, true} {
		t.Run(fmt.Sprint("withdraws: ", can), func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) {
				w.fill(1000)
				w.invent(40, "x")
				time.Sleep(time.Minute)
				ctx, cancel := context.WithCancel(t.Context())
				sender := w.sender(nil)
				var to Sender = &stops{Sender: sender.Raw(), afterAdd: cancel}
				if can {
					to = withdrawer{to.(*stops), sender.Raw()}
				}
				_, err := repairer(half{w, "source"}, half{w, "index"}, to, &Options{Logger: quiet}).Run(ctx)
				require.ErrorIs(t, err, context.Canceled)
				if can {
					pending := sender.Raw().Contains("x000000")
					assert.Equal(t, []bool{false}, pending)
				}
				_ = sender.Close(t.Context()) // its error lists the withdrawn ones
				time.Sleep(time.Minute)
				assert.Empty(t, w.deleted)
				report, err := w.repair(nil)
				require.NoError(t, err, "unmade deletes are not counted")
				assert.EqualValues(t, 40, report.Deleted)
			})
		})
	}
}

func TestARequestThatOutlastsAPassIsCounted(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(1000)
		w.invent(40, "x")
		time.Sleep(time.Minute)
		ctx, cancel := context.WithCancel(t.Context())
		w.takes = 30 * time.Second
		to := &stops{Sender: w.sender(nil).Raw(), afterAdd: func() { time.AfterFunc(15*time.Second, cancel) }}
		report, err := repairer(half{w, "source"}, half{w, "index"}, to, &Options{Logger: quiet}).Run(ctx)
		require.ErrorIs(t, err, context.Canceled)
		assert.Zero(t, report.Deleted)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Len(t, w.deleted, 40)
		w.takes = 50 * time.Millisecond
		w.invent(40, "y")
		time.Sleep(time.Minute)
		_, err = w.repair(nil)
		var e *DeletesError
		require.ErrorAs(t, err, &e)
		assert.EqualValues(t, 40, e.Deleted)
	})
}

// The tag of a source's action comes back in its outcome, and its Until still applies.
func TestActionsOfASourceKeepTheirTagAndLimit(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(10)
		w.lose(2)
		time.Sleep(time.Minute)
		ends := make(map[any]models.Outcome)
		source := tagged{half{w, "source"}, func(o models.Outcome) { ends[o.Tag] = o }}
		_, err := repairer(source, half{w, "index"}, w.sender(nil).Raw(), &Options{Logger: quiet}).Run(t.Context())
		require.NoError(t, err)
		assert.True(t, ends[key(0)].Reason == models.ReasonWithdrawn, ends[key(0)].Reason)
		assert.True(t, ends[key(1)].Completed())
	})
}

// tagged is a source whose actions have tags. The lease of its first key has ended.
type tagged struct {
	half
	note func(models.Outcome)
}

func (g tagged) Read(ctx context.Context, keys []string) ([]models.RawAction, error) {
	all, err := g.half.Read(ctx, keys)
	for i := range all {
		all[i].Tag, all[i].OnOutcome = all[i].Key, g.note
		if all[i].Key == key(0) {
			all[i].Until = func() time.Duration { return 0 }
		}
	}
	return all, err
}
