package outbox

import (
	"context"
	"database/sql"
	"strings"

	"github.com/go-azsearch/azsearch/internal/sqlkit"
)

// postgresEnsure checks the existing triggers, and does nothing if they are right: then it takes no lock and needs no
// rights. Otherwise it checks again under the lock of installers, and makes changes once it also has the lock on the
// table. It is one statement, so it is atomic even without a transaction.
//
// A trigger is found by its name, or by the first line of its function: the table may have been renamed, or one program
// may name it with its schema and another without, and a second trigger would write each key twice. Its function is
// replaced in place, whatever its name. That needs no lock on the table: a concurrent transaction calls either version,
// and both write the key. Only a missing trigger, or one altered by a person, needs a lock. CREATE OR REPLACE TRIGGER
// does not help, because PostgreSQL has it only since version 14. DROP locks out all others until the transaction ends,
// so there is no moment without a trigger between DROP and CREATE.
//
// DROP needs a stronger lock than CREATE. If both happen, that lock is taken first, because a lock that is upgraded
// deadlocks: session S has read the table and waits to write behind our CREATE, while our DROP waits for S; PostgreSQL
// may then cancel S. The lock timeout of two seconds is at most twice deadlock_timeout, so in a deadlock across
// partitions the installer is cancelled.
//
// Installers wait for each other by table, so that there is one trigger, and then by name: tables of several schemas
// may share a function, and two concurrent replacements of it fail ("tuple concurrently updated"). No writer waits
// behind this lock, so the wait may be longer. But the time counts: an installer that waited for another one, which got
// no lock on the table, must not stop the writers for two more seconds.
//
// The trigger is FOR EACH ROW: most statements change one row, and the transition tables of a trigger for each
// statement would double the cost of the row. Its function names the outbox with its present schema, because other
// sessions may have another search_path, and SET search_path would add a tenth to the cost. For the same reason it
// names types and operators with their schema: the caller of another owner's function controls the search_path.
// TRUNCATE has no transition rows, so the keys are read before it, from the table under its present name.
//
// A partition also has the trigger of its table, which is dropped only with that one. If the inherited trigger is
// right, a trigger that the partition had before it was attached is dropped: it would write each key twice.
var postgresEnsure = `DO $azsearch$
DECLARE
	rel regclass := to_regclass('{relation}');
	patience text := current_setting('lock_timeout');
	box text; home text; other text; want record; own record; func record; more record;
	alike boolean; changed boolean; mode text; deadline timestamptz; place regclass;
BEGIN
	SELECT format('%I.%I', n.nspname, c.relname), n.nspname INTO box, home FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = to_regclass('{t}');
	IF box IS NULL THEN
		RAISE EXCEPTION 'the table {t} does not exist; call outbox.Migrate, or run what outbox.Schema returns' USING ERRCODE = '` + stateNoOutbox + `';
	END IF;
	IF rel IS NULL THEN
		RAISE EXCEPTION 'the table {relation} does not exist' USING ERRCODE = 'undefined_table';
	END IF;
	IF NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = rel AND attname = '{attribute}' AND attnum > 0 AND NOT attisdropped) THEN
		RAISE EXCEPTION 'the table {relation} has no column {attribute}' USING ERRCODE = 'undefined_column';
	END IF;
	SELECT format_type(a.atttypid, a.atttypmod) INTO other FROM pg_attribute a WHERE a.attrelid = rel AND a.attname = '{attribute}' AND NOT ` + postgresSteady + `;
	IF other IS NOT NULL THEN
		RAISE EXCEPTION 'the text of the column {attribute} of type % depends on settings of the session, or may do so, and one row would have several keys; use a column of text, of a whole number or of uuid', other USING ERRCODE = 'datatype_mismatch';
	END IF;
	FOR look IN 1..3 LOOP
		changed := false; mode := NULL;
		FOR want IN ` + postgresWanted + ` LOOP
			SELECT * INTO own FROM (
				SELECT g.oid, g.tgname, g.tgfoid, g.tgtype = want.type AND g.tgqual IS NULL AND g.tgattr::text = '' AS kept, ` + postgresInherited + ` AS inherited
				FROM pg_trigger g JOIN pg_proc p ON p.oid = g.tgfoid WHERE g.tgrelid = rel AND (g.tgname = want.name OR starts_with(p.prosrc, want.mark))) there
				WHERE kept OR NOT inherited ORDER BY NOT inherited, tgname <> want.name, tgname LIMIT 1;
			SELECT n.nspname, p.proname, p.prosrc, p.prosecdef INTO func FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
				WHERE p.oid = coalesce(own.tgfoid, to_regprocedure(format('%I.%I()', home, want.name))::oid);
			other := substring(func.prosrc FROM 'INSERT INTO (\S+) \(queue, class, key\)');
			IF own.tgname IS NOT NULL AND other <> box AND to_regclass(other) IS NOT NULL THEN
				RAISE EXCEPTION 'the trigger % writes to the outbox %, not to %; name the schema in Table.Prefix, or drop the trigger', own.tgname, other, box USING ERRCODE = 'object_in_use';
			END IF;
			IF EXISTS (SELECT FROM pg_trigger g WHERE g.tgfoid = own.tgfoid AND g.tgenabled IN ('D', 'R') AND (g.tgrelid = rel OR g.tgrelid IN (SELECT relid FROM pg_partition_tree(rel)))) THEN
				RAISE EXCEPTION 'writes to % leave no rows; run ALTER TABLE % ENABLE TRIGGER % (if a partition has it disabled, there), then Backfill the keys that have changed meanwhile', rel, rel, own.tgname USING ERRCODE = '` + stateDisabled + `';
			END IF;
			alike := func.prosrc IS NOT DISTINCT FROM want.body;
			FOR more IN SELECT g.tgname, g.tgrelid::regclass AS place FROM pg_trigger g JOIN pg_proc p ON p.oid = g.tgfoid
				WHERE (g.tgrelid = rel OR want.every = 'ROW' AND g.tgrelid IN (SELECT relid FROM pg_partition_tree(rel)))
				AND starts_with(p.prosrc, want.mark) AND g.oid IS DISTINCT FROM own.oid AND NOT ` + postgresInherited + ` LOOP
				changed := true; mode := 'ACCESS EXCLUSIVE';
				IF look = 3 THEN
					EXECUTE format('DROP TRIGGER %I ON %s', more.tgname, more.place);
				END IF;
			END LOOP;
			CONTINUE WHEN alike AND own.kept;
			changed := true;
			mode := CASE WHEN own.kept IS FALSE THEN 'ACCESS EXCLUSIVE' WHEN own.kept THEN mode ELSE coalesce(mode, 'SHARE ROW EXCLUSIVE') END;
			CONTINUE WHEN look < 3;
			IF NOT alike THEN
				EXECUTE format('CREATE OR REPLACE FUNCTION %I.%I() RETURNS trigger LANGUAGE plpgsql %s AS %L', coalesce(func.nspname, home), coalesce(func.proname, want.name),
					CASE WHEN func.prosecdef THEN 'SECURITY DEFINER' ELSE '' END, want.body);
			END IF;
			CONTINUE WHEN own.kept;
			IF own.tgname IS NOT NULL THEN
				EXECUTE format('DROP TRIGGER %I ON %s', own.tgname, rel);
			END IF;
			EXECUTE format('CREATE TRIGGER %I %s ON %s FOR EACH %s EXECUTE FUNCTION %I.%I()', coalesce(own.tgname, want.name), want.moment, rel, want.every,
				coalesce(func.nspname, home), coalesce(func.proname, want.name));
		END LOOP;
		EXIT WHEN look = 3 OR NOT changed;
		IF look = 1 THEN
			` + postgresDeadline + sqlkit.Patience("30s") + `
			PERFORM pg_advisory_xact_lock(hashtextextended(rel::oid::text, 7063));
			PERFORM pg_advisory_xact_lock(hashtextextended('{name}', 7063));
		ELSE
			` + postgresLock + `
		END IF;
	END LOOP;
	PERFORM set_config('lock_timeout', patience, true);
END $azsearch$`

// postgresDeadline is when the wait for locks ends. postgresLock locks the table and its partitions, in a mode, until
// then: lock_timeout applies to one lock, so statements that lock them all would wait that long for each, with writers
// behind the first. After the deadline, a lock that is free, or soon will be, is still taken. If a role may not lock a
// table but may create triggers, CREATE takes the lock.
const (
	postgresDeadline = `deadline := clock_timestamp() + CASE patience WHEN '0' THEN '` + lockPatience + `' ELSE patience END::interval;`
	postgresLock     = `FOR place IN SELECT c.oid::regclass FROM (SELECT rel AS relid, 0 AS level UNION SELECT relid, level FROM pg_partition_tree(rel)) x JOIN pg_class c ON c.oid = x.relid
				WHERE mode <> '' AND c.relkind IN ('r', 'p') AND has_table_privilege(c.oid, 'UPDATE, DELETE, TRUNCATE') ORDER BY x.level, c.oid LOOP
				PERFORM set_config('lock_timeout', greatest(10, (extract(epoch FROM deadline - clock_timestamp()) * 1000)::bigint) || 'ms', true);
				EXECUTE format('LOCK TABLE ONLY %s IN %s MODE', place, mode);
			END LOOP;`
)

// postgresSteady is true if the text of the column a is the same in all sessions. It names the kinds of types for which
// that is known: booleans, enumerations, texts, bit strings, addresses and exact numbers, and domains of them. Arrays,
// ranges and composite types contain others, and regclass follows the search_path. The base type of a domain is found
// through the domains between.
const postgresSteady = `EXISTS (WITH RECURSIVE base AS (
		SELECT oid, typtype, typbasetype, typcategory FROM pg_type WHERE oid = a.atttypid
		UNION ALL SELECT t.oid, t.typtype, t.typbasetype, t.typcategory FROM base b JOIN pg_type t ON b.typtype = 'd' AND t.oid = b.typbasetype)
		SELECT FROM base WHERE typtype <> 'd' AND (typcategory IN ('B', 'E', 'S', 'V', 'I') OR oid IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype, 'numeric'::regtype, 'oid'::regtype, 'uuid'::regtype, 'time'::regtype, 'macaddr'::regtype, 'macaddr8'::regtype, 'pg_lsn'::regtype)))`

// postgresInherited is true if the trigger g is inherited from the partitioned table.
const postgresInherited = `EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_trigger'::regclass AND d.objid = g.oid AND d.refclassid = 'pg_trigger'::regclass)`

// postgresWanted are the wanted triggers: their kind, the bits of pg_trigger.tgtype and the body of the function, whose
// first line is the mark.
const postgresWanted = `SELECT w.kind, '{name}_' || w.kind AS name, w.type, w.moment, w.every, m.mark, m.mark || w.body AS body FROM (VALUES
			('row', 29, 'AFTER INSERT OR UPDATE OR DELETE', 'ROW', format($row$BEGIN
	IF NEW.{column}::pg_catalog.text OPERATOR(pg_catalog.<>) '' THEN
		INSERT INTO %1$s (queue, class, key) VALUES ('{queue}', {class}, NEW.{column}::pg_catalog.text);
	END IF;
	IF OLD.{column}::pg_catalog.text OPERATOR(pg_catalog.<>) '' AND (NEW.{column} IS NULL OR OLD.{column}::pg_catalog.text COLLATE pg_catalog."C" OPERATOR(pg_catalog.<>) NEW.{column}::pg_catalog.text) THEN
		INSERT INTO %1$s (queue, class, key) VALUES ('{queue}', {class}, OLD.{column}::pg_catalog.text);
	END IF;{notify}
	RETURN NULL;
END$row$, box)),
			('truncate', 34, 'BEFORE TRUNCATE', 'STATEMENT', format($truncate$BEGIN
	EXECUTE pg_catalog.format($text$INSERT INTO %1$s (queue, class, key) SELECT '{queue}', {class}, k FROM (
		SELECT DISTINCT truncated.{column}::pg_catalog.text COLLATE pg_catalog."C" AS k FROM %%I.%%I AS truncated) r WHERE k OPERATOR(pg_catalog.<>) ''$text$, TG_TABLE_SCHEMA, TG_TABLE_NAME);{notify}
	RETURN NULL;
END$truncate$, replace(box, '%', '%%')))) AS w (kind, type, moment, every, body),
			LATERAL (SELECT format(E'-- azsearch: %s of the column %s to the queue {queue} in %s\n', w.kind, '{attribute}', box) AS mark) AS m`

// postgresUnseen finds writes for which the triggers do not fire: those of sessions that start with
// session_replication_role = replica, and those of logical replication. A trigger set to ENABLE ALWAYS fires for both.
const postgresUnseen = `WITH ours AS (SELECT g.tgrelid, g.tgrelid::regclass || ' ENABLE ALWAYS TRIGGER ' || quote_ident(g.tgname) AS always FROM pg_trigger g JOIN pg_proc p ON p.oid = g.tgfoid
		WHERE g.tgenabled = 'O' AND starts_with(p.prosrc, '-- azsearch: row of the column ') AND to_regclass(substring(p.prosrc FROM 'INSERT INTO (\S+) \(queue, class, key\)')) = '{t}'::regclass)
	SELECT 'session_replication_role is replica for ' || CASE setrole WHEN 0 THEN 'all roles' ELSE 'the role ' || pg_get_userbyid(setrole) END || ': their writes leave no rows; remove the setting, or run ALTER TABLE ' || (SELECT min(always) FROM ours)
	FROM pg_db_role_setting WHERE setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database())) AND 'session_replication_role=replica' = ANY (setconfig) AND EXISTS (SELECT FROM ours)
	UNION ALL SELECT 'logical replication writes to ' || tgrelid::regclass || ', and leaves no rows; run ALTER TABLE ' || always FROM ours WHERE tgrelid IN (SELECT srrelid FROM pg_subscription_rel)`

// unseen returns which writes leave no rows.
func unseen(ctx context.Context, db Queryer, text func(string) string) (string, error) {
	all, err := sqlkit.Texts(ctx, db, text(postgresUnseen))
	return strings.Join(all, "; "), err
}

// postgresDrop finds triggers as postgresEnsure does, and also drops their functions unless another table uses them.
var postgresDrop = `DO $azsearch$
DECLARE
	rel regclass := to_regclass('{relation}');
	patience text := current_setting('lock_timeout');
	box text; home text; kind text; own record; func oid;
	mode CONSTANT text := 'ACCESS EXCLUSIVE'; deadline timestamptz; place regclass;
BEGIN
	SELECT format('%I.%I', n.nspname, c.relname), n.nspname INTO box, home FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = to_regclass('{t}');
	` + postgresDeadline + sqlkit.Patience(lockPatience) + `
	FOREACH kind IN ARRAY ARRAY['row', 'truncate'] LOOP
		func := to_regprocedure(coalesce(quote_ident(home) || '.', '') || '{name}_' || kind || '()');
		FOR own IN SELECT g.tgname, g.tgfoid FROM pg_trigger g JOIN pg_proc p ON p.oid = g.tgfoid WHERE g.tgrelid = rel
			AND NOT ` + postgresInherited + ` AND (g.tgname = '{name}_' || kind OR starts_with(p.prosrc, format(E'-- azsearch: %s of the column %s to the queue {queue} in %s\n', kind, '{attribute}', box))) LOOP
			` + postgresLock + `
			EXECUTE format('DROP TRIGGER %I ON %s', own.tgname, rel);
			func := own.tgfoid;
		END LOOP;
		IF func IS NOT NULL AND NOT EXISTS (SELECT FROM pg_trigger WHERE tgfoid = func) THEN
			EXECUTE 'DROP FUNCTION ' || func::regprocedure;
		END IF;
	END LOOP;
	PERFORM set_config('lock_timeout', patience, true);
END $azsearch$`

func ensurePostgresTrigger(ctx context.Context, db *sql.DB, p triggerParts) error {
	return run(ctx, db, p.text(postgresEnsure))
}

func dropPostgresTrigger(ctx context.Context, db *sql.DB, p triggerParts) error {
	return run(ctx, db, p.text(postgresDrop))
}

// run runs a statement whose second check must see commits made after the first: READ COMMITTED, whatever the default
// is.
func run(ctx context.Context, db *sql.DB, statement string) error {
	return sqlkit.InTransaction(ctx, db, sqlkit.PostgreSQL.Begin, func(c *sql.Conn) error {
		return sqlkit.Run(ctx, c, statement)
	})
}
