package outbox

import "time"

const rowColumns = `class, seq, bucket, key, op, body, attempts, written`

// there are the rows of gone, by where they are. Each partition has places of the same names, so the number has to be the
// same as well; as a join, which IS TRUE keeps it from becoming, it may read the whole queue.
const there = `ctid = ANY (ARRAY(SELECT place FROM gone)) AND (seq IN (SELECT seq FROM gone)) IS TRUE`

// postgresAlter has each statement see what was committed before it, whatever the default is.
const postgresAlter = `BEGIN ISOLATION LEVEL READ COMMITTED`

var postgresDialect = dialect{
	name:   PostgreSQL,
	now:    `(extract(epoch FROM clock_timestamp()) * 1000)::bigint`,
	dollar: true,
	begin:  `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off`,
	steers: true,
	alter:  postgresAlter,
	tidy:   emptyRing, tidyEvery: 10 * time.Second,
	ring:  newRing,
	lists: listing{numbers: arrayOfNumbers, records: arrays, exactly: arraysOfPlaces},
	// Two that migrate wait for each other, and no writer behind them, so that may take longer than the wait for a
	// table.
	lock: `DO $$ DECLARE patience text := current_setting('lock_timeout'); BEGIN
		` + patience("30s") + `
		PERFORM pg_advisory_xact_lock(hashtextextended('{t}', 7062));
		` + patience(lockPatience) + `
	END $$`,

	version: `SELECT version()`,
	others:  []string{"_seq", "_pkey", "_later", "_dead_key", "_dead_pkey", "_lease_pkey", "_tombstone_pkey", "_queue_pkey"},
	missing: `SELECT n FROM unnest(?1::text::text[]) AS n WHERE to_regclass(n) IS NULL`,
	faults: `SELECT 'the sequence {t}_seq has a cache of ' || cache_size || ': numbers that wait in a cache are given out late, so rows would be skipped; ALTER SEQUENCE {t}_seq CACHE 1'
		FROM pg_sequences WHERE format('%I.%I', schemaname, sequencename)::regclass = '{t}_seq'::regclass AND cache_size <> 1
		UNION ALL SELECT 'the column seq of {t} takes no numbers from {t}_seq; ALTER TABLE {t} ALTER seq SET DEFAULT nextval(''{t}_seq'')' WHERE NOT EXISTS (
			SELECT 1 FROM pg_attrdef d JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum WHERE d.adrelid = '{t}'::regclass AND a.attname = 'seq')`,

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
`},

	insert: `INSERT INTO {t} (queue, class, key, op, body) VALUES (?1, ?2, ?3, ?4, ?5)`,
	insertMany: `INSERT INTO {t} (queue, class, key, op, body) SELECT ?1::text, ?2::integer, k, o, b
		FROM unnest(?3::text::text[], ?4::text::text[], ?5::text::text[]) WITH ORDINALITY AS r(k, o, b, n) ORDER BY n`,
	notify: ` RETURNING pg_notify('{channel}', queue)`,

	arm:   `SELECT class, seq, bucket, key, op, CASE WHEN seq > {seen} THEN body END AS body, attempts, written FROM {t} WHERE queue = ?1 AND class = {class} AND seq > {after} AND (?2::bigint >> (bucket / 16)) & 1 <> 0 ORDER BY seq LIMIT ?3`,
	fetch: `SELECT ` + rowColumns + `, FALSE FROM {t} WHERE queue = ?1 AND class = ?2::integer AND seq = ANY(?3::text::bigint[])`,
	// No index but {i}_later fits, and the keys come first whatever the planner thinks of them.
	earlier: `SELECT o.class, o.seq, o.bucket, o.key, o.op, NULL::text AS body, o.attempts, o.written, FALSE
		FROM unnest(?2::text::text[], ?3::text::bigint[]) AS k(key, seq) CROSS JOIN LATERAL (
			SELECT * FROM {t} o WHERE o.queue || '' = ?1 AND o.class + 0 > 0 AND o.key = k.key AND o.seq < k.seq OFFSET 0) o`,
	earlierFirst: `SELECT o.class, o.seq, o.bucket, o.key, o.op, NULL::text AS body, o.attempts, o.written, FALSE
		FROM unnest(?2::text::text[], ?3::text::bigint[]) AS k(key, seq) JOIN {t} o ON o.queue = ?1 AND o.class = 0 AND o.key = k.key AND o.seq < k.seq`,

	held: `WITH held AS MATERIALIZED (
		SELECT l.slot FROM {t}_lease l JOIN unnest(?3::text::bigint[], ?4::text::bigint[]) AS w(slot, epoch) ON l.slot = w.slot AND l.epoch = w.epoch
		WHERE l.queue = ?1 AND l.owner = ?2 AND l.expires > {now} ORDER BY l.slot FOR SHARE OF l)`,
	// The numbers come first, and each is looked up: as a join it may read the whole queue.
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
	tombs: `INSERT INTO {t}_tombstone (queue, key, seq, died) SELECT ?1::text, k.key, k.seq, {now} FROM unnest(?2::text::text[], ?3::text::bigint[]) AS k(key, seq)
		ON CONFLICT (queue, key) DO UPDATE SET seq = greatest({t}_tombstone.seq, excluded.seq), died = excluded.died`,
	mark: `UPDATE {t}_dead d SET newer = greatest(d.newer, k.seq) FROM unnest(?2::text::text[], ?3::text::bigint[]) AS k(key, seq)
		WHERE d.queue = ?1 AND d.key = k.key AND d.seq < k.seq`,
	renew: `WITH mine AS MATERIALIZED (SELECT slot FROM {t}_lease WHERE queue = ?1 AND owner = ?2 AND expires > {now} ORDER BY slot FOR UPDATE)
		UPDATE {t}_lease l SET expires = {now} + ?3 FROM mine WHERE l.queue = ?1 AND l.slot = mine.slot RETURNING l.slot, l.epoch`,
	acquire: `WITH free AS MATERIALIZED (
		SELECT slot FROM {t}_lease WHERE queue = ?1 AND slot < 64 AND expires <= {now} ORDER BY slot LIMIT ?4 FOR UPDATE SKIP LOCKED)
		UPDATE {t}_lease l SET owner = ?2, epoch = l.epoch + 1, expires = {now} + ?3 FROM free WHERE l.queue = ?1 AND l.slot = free.slot
		RETURNING l.slot, l.epoch`,

	last: `SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM {t}_seq`,
	writers: `SELECT coalesce(virtualtransaction, ''), pid IS NULL FROM pg_locks WHERE locktype = 'relation' AND granted AND mode <> 'AccessShareLock'
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND relation = '{t}'::regclass`,

	contains:   `SELECT DISTINCT key FROM {t} WHERE queue = ?1 AND key = ANY(?2::text::text[])`,
	purge:      `DELETE FROM {t} WHERE queue = ?1 AND key = ANY(?2::text::text[])`,
	tombstones: `SELECT key, seq FROM {t}_tombstone WHERE queue = ?1 AND key = ANY(?2::text::text[])`,

	oldestTransaction: `SELECT coalesce(max((extract(epoch FROM clock_timestamp() - began) * 1000)::bigint), 0) FROM (
		SELECT xact_start AS began FROM pg_stat_activity WHERE datname = current_database() AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL)
		UNION ALL SELECT prepared FROM pg_prepared_xacts WHERE database = current_database()) x`,
	estimate: `SELECT coalesce(sum(n_live_tup), 0)::bigint FROM pg_stat_all_tables WHERE relid = '{t}'::regclass OR relid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = '{t}'::regclass)`,

	ensureTrigger: ensurePostgresTrigger, dropTrigger: dropPostgresTrigger,
}
