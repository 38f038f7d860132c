package outbox

import (
	"time"

	"github.com/go-azsearch/azsearch/internal/sqlkit"
)

// there selects the rows named in gone by their ctid. Partitions use the same ctids, so seq must match too. IS TRUE
// keeps the planner from turning this into a join, which could read the whole queue.
const there = `ctid = ANY (ARRAY(SELECT place FROM gone)) AND (seq IN (SELECT seq FROM gone)) IS TRUE`

// identity recognizes the server by three values: the nonce, which crash recovery and promotion empty; the start time
// of the postmaster, which differs in a copy of a stopped server; and the oid of the nonce's table, which differs in a
// dump restored into the same server.
const identity = `coalesce((SELECT nonce || ' ' || (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint || ' ' || tableoid FROM {t}_nonce), '')`

// behind compares the sequence with the existing numbers: the highest of each queue and class, with which the primary
// key ends, and those of dead letters and tombstones.
const behind = `SELECT 'the sequence {t}_seq is at ' || at || ', and there is the number ' || top || ': logical replication and some dumps bring rows without their sequence; commits fail with 23505 on numbers that are taken, or rows get numbers below older ones; stop the writers, run SELECT setval(''{t}_seq'', ' || top || ')'
	FROM (WITH RECURSIVE q AS (
		(SELECT queue, class FROM {t} ORDER BY queue, class LIMIT 1) UNION ALL
		SELECT n.queue, n.class FROM q CROSS JOIN LATERAL (SELECT o.queue, o.class FROM {t} o WHERE (o.queue, o.class) > (q.queue, q.class) ORDER BY o.queue, o.class LIMIT 1) n)
		SELECT greatest((SELECT max(n.seq) FROM q CROSS JOIN LATERAL (SELECT o.seq FROM {t} o WHERE o.queue = q.queue AND o.class = q.class ORDER BY o.seq DESC LIMIT 1) n),
			(SELECT max(seq) FROM {t}_dead), (SELECT max(seq) FROM {t}_tombstone)) AS top) n,
		(SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS at FROM {t}_seq) s WHERE at < top`

var postgresDialect = dialect{
	Dialect: &sqlkit.PostgreSQL,
	advice:  unseen,
	steer:   `; SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off; SET LOCAL idle_in_transaction_session_timeout = '10s'`,
	tidy:    emptyRing, tidyEvery: 10 * time.Second,
	ring: newRing, exactly: arraysOfPlaces,
	others: []string{"_seq", "_pkey", "_later", "_dead_key", "_dead_pkey", "_lease_pkey", "_tombstone_pkey", "_queue_pkey", "_nonce"},
	faults: `SELECT 'the sequence {t}_seq has a cache of ' || seqcache || ': numbers that wait in a cache are given out late, so rows would be skipped; ALTER SEQUENCE {t}_seq CACHE 1'
		FROM pg_sequence WHERE seqrelid = '{t}_seq'::regclass AND seqcache <> 1
		UNION ALL SELECT 'the column seq of {t} takes no numbers from {t}_seq; ALTER TABLE {t} ALTER seq SET DEFAULT nextval(''{t}_seq'')' FROM pg_class c WHERE c.oid = '{t}'::regclass AND NOT EXISTS (
			SELECT 1 FROM pg_attrdef d JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum WHERE d.adrelid = c.oid AND a.attname = 'seq')
		UNION ALL SELECT 'the role may send rows, and must not read and fill {t}_nonce, by which a relay recognizes the server; run GRANT SELECT, INSERT ON {t}_nonce TO ' || quote_ident(current_user)
			WHERE has_table_privilege('{t}_lease', 'UPDATE') AND NOT (has_table_privilege('{t}_nonce', 'SELECT') AND has_table_privilege('{t}_nonce', 'INSERT'))
		UNION ALL ` + behind,

	schema: []string{`
CREATE SEQUENCE IF NOT EXISTS {t}_seq;

CREATE TABLE IF NOT EXISTS {t} (
	queue    text     NOT NULL,
	class    smallint NOT NULL DEFAULT 0 CHECK (class BETWEEN 0 AND 7),
	seq      bigint   NOT NULL DEFAULT nextval('{t}_seq'),
	key      text     NOT NULL CHECK (key <> ''),
	bucket   smallint NOT NULL GENERATED ALWAYS AS (hashtextextended(key, 0) & 1023) STORED,
	op       text     NOT NULL DEFAULT '' CHECK (op IN ('', 'upload', 'merge', 'mergeOrUpload', 'delete')),
	body     text,
	written  bigint   NOT NULL DEFAULT {now},
	attempts integer  NOT NULL DEFAULT 0,
	{part}PRIMARY KEY (queue, class, seq{with part})
) {storage};

CREATE INDEX IF NOT EXISTS {i}_later ON {t} (key) WHERE class + 0 > 0;

CREATE TABLE IF NOT EXISTS {t}_lease (
	queue   text    NOT NULL,
	slot    bigint  NOT NULL,
	owner   text    NOT NULL,
	epoch   bigint  NOT NULL,
	expires bigint  NOT NULL,
	PRIMARY KEY (queue, slot)
) WITH (fillfactor = 50);

CREATE TABLE IF NOT EXISTS {t}_queue (
	queue  text PRIMARY KEY,
	paused boolean NOT NULL
);

CREATE TABLE IF NOT EXISTS {t}_dead (
	queue    text     NOT NULL,
	seq      bigint   NOT NULL,
	class    smallint NOT NULL,
	key      text     NOT NULL,
	op       text     NOT NULL,
	body     text,
	written  bigint   NOT NULL,
	attempts integer  NOT NULL,
	status   integer  NOT NULL,
	reason   text     NOT NULL,
	message  text     NOT NULL,
	died     bigint   NOT NULL,
	newer    bigint   NOT NULL DEFAULT 0,
	PRIMARY KEY (queue, seq)
);

CREATE INDEX IF NOT EXISTS {i}_dead_key ON {t}_dead (queue, key);

CREATE TABLE IF NOT EXISTS {t}_tombstone (
	queue text   NOT NULL,
	key   text   NOT NULL,
	seq   bigint NOT NULL,
	died  bigint NOT NULL,
	PRIMARY KEY (queue, key)
);

CREATE TABLE IF NOT EXISTS {t}_version (version integer NOT NULL);

CREATE UNLOGGED TABLE IF NOT EXISTS {t}_nonce (
	one   boolean PRIMARY KEY DEFAULT TRUE CHECK (one),
	nonce text    NOT NULL
);

DO $$ DECLARE r record; BEGIN
	FOR r IN SELECT DISTINCT CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END AS who
		FROM pg_class c CROSS JOIN LATERAL aclexplode(coalesce(c.relacl, acldefault('r', c.relowner))) a WHERE c.oid = '{t}_lease'::regclass AND a.privilege_type = 'UPDATE' LOOP
		EXECUTE format('GRANT SELECT, INSERT ON {t}_nonce TO %s', r.who); END LOOP; END $$;
`},

	notify: ` RETURNING pg_notify('{channel}', queue)`,

	arm: `SELECT class, seq, bucket, key, op, CASE WHEN seq > {seen} THEN body END AS body, attempts, written FROM {t} WHERE queue = ?1 AND class = {class} AND seq > {after}{also} AND (?2::bigint >> (bucket / 16)) & 1 <> 0 ORDER BY seq LIMIT ?3`,
	// Only the index {i}_later fits, and the keys must come first, whatever the planner estimates for them.
	earlier: `SELECT o.class, o.seq, o.bucket, o.key, o.op, NULL::text AS body, o.attempts, o.written, FALSE
		FROM unnest(?2::text::text[], ?3::text::bigint[]) AS k(key, seq) CROSS JOIN LATERAL (
			SELECT * FROM {t} o WHERE o.queue || '' = ?1 AND o.class + 0 > 0 AND o.key = k.key AND o.seq < k.seq OFFSET 0) o`,
	earlierFirst: `SELECT o.class, o.seq, o.bucket, o.key, o.op, NULL::text AS body, o.attempts, o.written, FALSE
		FROM unnest(?2::text::text[], ?3::text::bigint[]) AS k(key, seq) JOIN {t} o ON o.queue = ?1 AND o.class = 0 AND o.key = k.key AND o.seq < k.seq`,

	// The numbers come first, and each is looked up: a join may read the whole queue.
	remove: `, gone AS MATERIALIZED (
		SELECT o.ctid AS place, o.seq FROM unnest(?5::text::bigint[], ?6::text::bigint[], ?7::text::bigint[]) AS d(class, seq, written) CROSS JOIN LATERAL (
			SELECT o.ctid, o.seq, o.bucket FROM {t} o WHERE o.queue = ?1 AND o.class = d.class AND o.seq = d.seq AND o.written = d.written OFFSET 0) o WHERE o.bucket / 16 = ANY (ARRAY(SELECT slot FROM held)))
		DELETE FROM {t} WHERE ` + there,
	bury: `INSERT INTO {t}_dead (queue, seq, class, key, op, body, written, attempts, status, reason, message, died)
		SELECT o.queue, o.seq, o.class, o.key, o.op, o.body, o.written, o.attempts + 1, d.status, d.reason, d.message, {now}
		FROM unnest(?5::text::bigint[], ?6::text::bigint[], ?7::text::bigint[], ?8::text::bigint[], ?9::text::text[], ?10::text::text[]) AS d(class, seq, written, status, reason, message)
		CROSS JOIN LATERAL (SELECT * FROM {t} o WHERE o.queue = ?1 AND o.class = d.class AND o.seq = d.seq AND o.written = d.written OFFSET 0) o WHERE o.bucket / 16 = ANY (ARRAY(SELECT slot FROM held))
		ON CONFLICT (queue, seq) DO UPDATE SET status = excluded.status, reason = excluded.reason, message = excluded.message, died = excluded.died, attempts = excluded.attempts RETURNING seq`,
	tried: `, gone AS MATERIALIZED (
		SELECT o.ctid AS place, o.seq FROM unnest(?5::text::bigint[], ?6::text::bigint[]) AS d(class, seq) CROSS JOIN LATERAL (
			SELECT o.ctid, o.seq, o.bucket FROM {t} o WHERE o.queue = ?1 AND o.class = d.class AND o.seq = d.seq OFFSET 0) o WHERE o.bucket / 16 = ANY (ARRAY(SELECT slot FROM held)))
		UPDATE {t} SET attempts = attempts + 1 WHERE ` + there,

	last: `SELECT ` + identity + `, CASE WHEN is_called THEN last_value ELSE 0 END FROM {t}_seq`,
	writers: `SELECT ` + identity + `, coalesce(l.virtualtransaction, ''), l.relation IS NOT NULL AND l.pid IS NULL, l.relation IS NOT NULL FROM (SELECT) one LEFT JOIN pg_locks l ON locktype = 'relation' AND granted AND mode = 'RowExclusiveLock'
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND relation = '{t}'::regclass`,
	server: recognized{identity, `INSERT INTO {t}_nonce (nonce) VALUES (md5(random()::text || clock_timestamp()::text)) ON CONFLICT DO NOTHING`, behind, ""},

	oldestTransaction: `SELECT coalesce(max((extract(epoch FROM clock_timestamp() - began) * 1000)::bigint), 0) FROM (
		SELECT xact_start AS began FROM pg_stat_activity WHERE datname = current_database() AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL)
		UNION ALL SELECT prepared FROM pg_prepared_xacts WHERE database = current_database()) x`,
	estimate: `SELECT coalesce(sum(n_live_tup), 0)::bigint FROM pg_stat_all_tables WHERE relid = '{t}'::regclass OR relid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = '{t}'::regclass)`,

	ensureTrigger: ensurePostgresTrigger, dropTrigger: dropPostgresTrigger,
}

// arraysOfPlaces returns arrays of the classes, numbers and times of rows.
func arraysOfPlaces(rows []row) []any {
	class, seq := places(rows)
	return sqlkit.PostgreSQL.Values(class, seq, writtenAt(rows))
}
