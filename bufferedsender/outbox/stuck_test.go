package outbox

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
)

func TestARelayThatSettlesNothingGivesItsRangesToOneThatWorks(t *testing.T) {
	denied := func(models.RawAction) models.Outcome { return failing(models.ReasonUnreachable) } // a 403, for example
	loader := LoadRaw(func(context.Context, []string) ([]models.RawAction, error) { return nil, nil })
	for name, of := range map[string]struct {
		loader Loader
		answer func(models.RawAction) models.Outcome
	}{
		"without a Loader": {Loader{}, func(models.RawAction) models.Outcome { return models.Outcome{} }}, "refused by its service": {loader, denied},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, db database) {
				table, to, log := &Table{Dialect: SQLite, Queue: "q"}, newScripted(), new(lockedBuffer)
				to.answer = of.answer
				o := calm(RelayOptions{Loader: of.loader})
				o.Logger = logTo(log)
				ill := tryRelay(t, db, table, to, o)
				well := tryRelay(t, db, table, newScripted(), calm(RelayOptions{Loader: loader}))
				passes(30 * time.Second)
				require.EqualValues(t, ranges/2, ill.Stats().Ranges)
				write := func() {
					var keys []string
					for i := range 400 {
						keys = append(keys, fmt.Sprint("k", i))
					}
					db.inTx(t, func(tx *sql.Tx) error { return WriteKeys(t.Context(), tx, table, keys...) })
				}
				write()
				passes(30 * time.Second)
				require.EqualValues(t, 1, ill.Stats().Ranges)
				require.EqualValues(t, ranges-1, well.Stats().Ranges)
				lag, err := table.Lag(t.Context(), db)
				require.NoError(t, err)
				require.Less(t, lag.Rows, int64(30), "of one range of 64")
				write()
				passes(5 * time.Minute)
				require.EqualValues(t, ranges-1, well.Stats().Ranges)
				require.Equal(t, 1, strings.Count(log.String(), "ranges given away"))
				require.NotContains(t, log.String(), "ranges taken again")
				if name == "without a Loader" {
					return
				}
				to.set(func() { to.answer = func(models.RawAction) models.Outcome { return models.Outcome{} } })
				passes(time.Minute)
				require.EqualValues(t, ranges/2, ill.Stats().Ranges, "it works again")
				require.Equal(t, 1, strings.Count(log.String(), "ranges taken again"))
				require.Equal(t, 1, strings.Count(log.String(), "ranges given away"))
				passes(backOffLast)
				lag, err = table.Lag(t.Context(), db)
				require.NoError(t, err)
				require.Zero(t, lag.Rows)
			})
		})
	}
}

func TestARelayThatIsAloneKeepsItsRanges(t *testing.T) {
	inBubble(t, func(t *testing.T, db database) {
		table := &Table{Dialect: SQLite, Queue: "q"}
		r := tryRelay(t, db, table, newScripted(), calm(RelayOptions{}))
		db.inTx(t, func(tx *sql.Tx) error { return WriteKeys(t.Context(), tx, table, "k") })
		passes(time.Minute)
		require.EqualValues(t, ranges, r.Stats().Ranges)
		other := tryRelay(t, db, table, newScripted(), calm(RelayOptions{}))
		passes(20 * time.Minute)
		require.Positive(t, r.Stats().Ranges+other.Stats().Ranges)
		require.NoError(t, other.end())
		passes(time.Minute)
		require.EqualValues(t, ranges, r.Stats().Ranges, "it is alone again")
	})
}
