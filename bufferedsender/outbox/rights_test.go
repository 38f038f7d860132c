package outbox

import (
	"database/sql"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
)

// The rights in doc.go are enough, for writers and for relays.
func TestTheRightsThatAreDocumentedAreEnough(t *testing.T) {
	db := newPostgres(t)
	_, writer := db.as(t, `GRANT INSERT, SELECT (queue) ON azsearch_outbox`, `GRANT USAGE ON SEQUENCE azsearch_outbox_seq`)
	_, relay := db.as(t, `GRANT SELECT, INSERT, UPDATE, DELETE ON azsearch_outbox_lease, azsearch_outbox_dead, azsearch_outbox_tombstone`,
		`GRANT SELECT, UPDATE, DELETE ON azsearch_outbox`, `GRANT SELECT, INSERT ON azsearch_outbox_nonce`,
		`GRANT SELECT ON azsearch_outbox_queue, azsearch_outbox_version`, `GRANT SELECT ON SEQUENCE azsearch_outbox_seq`)
	table, to := &Table{Dialect: PostgreSQL, Queue: "q", Notify: true}, newScripted()
	to.refuse("bad")
	r := tryRelay(t, relay, table, to, RelayOptions{SeqField: "seq"})
	for _, action := range []models.IndexDocumentsAction[gadget]{models.UploadAction(gadget{ID: "a"}), models.UploadAction(gadget{ID: "bad"}), models.DeleteAction(gadget{ID: "a"})} {
		writer.inTx(t, func(tx *sql.Tx) error { return Write(t.Context(), tx, table, action) })
	}
	emptied(t, db, table)
	require.Len(t, lettersOf(t, db, table), 1)
	tombs, err := table.Tombstones(t.Context(), db, "a")
	require.NoError(t, err)
	require.Len(t, tombs, 1)
	soon(t, "nothing is wrong", func() bool { return r.Ready() == nil })
}
