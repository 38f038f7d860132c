package outbox

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
)

// The rights in doc.go suffice for writers and for relays.
func TestTheRightsThatAreDocumentedAreEnough(t *testing.T) {
	db := newPostgres(t)
	_, writer := db.as(t, `GRANT INSERT, SELECT (queue) ON azsearch_outbox`, `GRANT USAGE ON SEQUENCE azsearch_outbox_seq`)
	_, relay := db.as(t, `GRANT SELECT, INSERT, UPDATE, DELETE ON azsearch_outbox_lease, azsearch_outbox_dead, azsearch_outbox_tombstone`,
		`GRANT SELECT, UPDATE, DELETE ON azsearch_outbox`, `GRANT SELECT, INSERT ON azsearch_outbox_nonce`,
		`GRANT SELECT ON azsearch_outbox_queue, azsearch_outbox_version`, `GRANT SELECT ON SEQUENCE azsearch_outbox_seq`)
	db.exec(t, `CREATE SCHEMA closed`, `CREATE SEQUENCE closed.cached CACHE 50`)
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
	testkit.Eventually(t, func() bool { return r.Ready() == nil }, "the relay is ready")
}

// Triggers do not fire for these writes, so only the settings reveal them.
func TestARelayNamesWritesThatLeaveNoRows(t *testing.T) {
	db := newPostgres(t)
	role, relay := db.as(t, `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public`, `GRANT SELECT ON SEQUENCE azsearch_outbox_seq`)
	table := db.withApp(t)
	require.NoError(t, table.ready())
	says := func() string {
		said, err := unseen(t.Context(), relay, table.text)
		require.NoError(t, err)
		return said
	}
	db.exec(t, `ALTER ROLE `+role+` SET session_replication_role = replica`)
	require.Empty(t, says(), "the table has no trigger")
	require.NoError(t, table.EnsureTrigger(t.Context(), db.DB, "app", "id"))
	name := table.triggerName("app", "id") + "_row"
	require.Equal(t, "session_replication_role is replica for the role "+role+": their writes leave no rows; remove the setting, or run ALTER TABLE app ENABLE ALWAYS TRIGGER "+name, says())
	db.exec(t, `CREATE SUBSCRIPTION copies CONNECTION '' PUBLICATION copies WITH (connect = false)`,
		`INSERT INTO pg_subscription_rel (srsubid, srrelid, srsubstate, srsublsn) SELECT oid, 'app'::regclass, 'r', '0/0' FROM pg_subscription`)
	require.Contains(t, says(), "logical replication writes to app, and leaves no rows; run ALTER TABLE app ENABLE ALWAYS TRIGGER "+name)
	defer db.exec(t, `ALTER SUBSCRIPTION copies SET (slot_name = NONE)`, `DROP SUBSCRIPTION copies`)
	log := new(lockedBuffer)
	tryRelay(t, relay, table, newScripted(), RelayOptions{Logger: logTo(log)})
	testkit.Eventually(t, func() bool { return strings.Contains(log.String(), "session_replication_role is replica") }, "the setting is logged")
	db.exec(t, `ALTER TABLE app ENABLE ALWAYS TRIGGER `+name)
	require.Empty(t, says())
}
