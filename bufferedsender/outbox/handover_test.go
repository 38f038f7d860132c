package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
)

// refusing is a sender that accepts nothing.
type refusing struct{ Sender }

func (refusing) Offer(context.Context, []models.RawAction) (int, error) {
	return 0, errors.New("not now")
}

// Nothing is written any more, so only the new ranges make the relay read.
func TestARelayReadsTheRangesThatItTakesOverAtOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		r := newRig(t, db)
		opts := short(RelayOptions{fullPass: time.Hour})
		opts.renew = 100 * time.Millisecond
		first := r.run(t, *opts)
		second, err := NewRelay(openPool(t, db.dialect, db.url), r.table, refusing{r.sender(t).Raw()}, opts)
		require.NoError(t, err)
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- second.Run(ctx) }()
		testkit.Eventually(t, func() bool { return first.Stats().Ranges == ranges/2 && second.Stats().Ranges == ranges/2 })
		db.inTx(t, func(tx *sql.Tx) error {
			var err error
			for i := range 100 {
				key := fmt.Sprint("k", i)
				err = errors.Join(err, r.put(ctx, tx, key, 1), Write(ctx, tx, r.table, models.UploadAction(entity{key, 1, 0})))
			}
			return err
		})
		testkit.Eventually(t, func() bool {
			return first.Stats().Deleted > 0 && second.Stats().InHand > 0 && first.Stats().InHand == 0
		})
		end()
		require.NoError(t, <-ended)
		r.empty(t)
		r.same(t)
	})
}
