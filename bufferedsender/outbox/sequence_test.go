package outbox

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Logical replication and table dumps copy rows without their sequence.
func TestASequenceThatIsBehindItsRowsIsNamedWithWhatToRun(t *testing.T) {
	t.Parallel()
	r := newRig(t, newPostgres(t))
	for _, brings := range []string{
		`INSERT INTO azsearch_outbox (queue, class, seq, key) VALUES ('entities', 3, 1000, 'k'), ('other', 0, 7, 'k')`,
		`DELETE FROM azsearch_outbox; INSERT INTO azsearch_outbox_dead (queue, seq, class, key, op, written, attempts, status, reason, message, died) VALUES ('entities', 1000, 0, 'k', '', 0, 0, 0, '', '', 0)`,
		`DELETE FROM azsearch_outbox_dead; INSERT INTO azsearch_outbox_tombstone (queue, key, seq, died) VALUES ('entities', 'k', 1000, 0)`,
	} {
		r.db.exec(t, brings)
		err := Check(t.Context(), r.db, PostgreSQL, nil)
		require.ErrorIs(t, err, ErrSchema, brings)
		require.ErrorContains(t, err, `SELECT setval('azsearch_outbox_seq', 1000)`)
		relay, err := NewRelay(r.db.DB, r.table, r.sender(t).Raw(), short(RelayOptions{}))
		require.NoError(t, err)
		require.ErrorContains(t, relay.Run(t.Context()), `SELECT setval('azsearch_outbox_seq', 1000)`)
	}
	r.db.exec(t, `SELECT setval('azsearch_outbox_seq', 1000)`)
	require.NoError(t, Check(t.Context(), r.db, PostgreSQL, nil))
}
