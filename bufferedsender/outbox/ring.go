package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-azsearch/azsearch/internal/sqlkit"
)

// ring is the part of a schema that puts rows into a few partitions in turn, by time. Partitions are never made or
// dropped later: a row can always be written to any of them.
type ring struct {
	column, key, storage string   // additions to, or replacements of, parts of the table
	leaves               []string // statements that make the partitions
	convert              []string // statements that make room for the partitions in an existing schema
	turn                 string   // statement that sets the time of each partition
	turns                string   // the default of the column then
}

const (
	ringLeaves = 4
	// ringRest is the minimum size of a partition that is worth truncating.
	ringRest = 8 << 20
	// minRotate is the minimum of SchemaOptions.Rotate.
	minRotate = 10 * time.Second
)

// churn are the settings of a table with short-lived rows.
const churn = `WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0)`

func newRing(every time.Duration) ring {
	if every == 0 {
		return ring{storage: churn}
	}
	part := fmt.Sprintf(`(extract(epoch FROM clock_timestamp())::bigint / %d %% %d)::smallint`, int64(every.Seconds()), ringLeaves)
	r := ring{
		column: `part smallint NOT NULL DEFAULT ` + part + ",\n\t", key: `, part`, storage: `PARTITION BY LIST (part)`,
		convert: []string{
			`LOCK TABLE {t} IN ACCESS EXCLUSIVE MODE`, keepsAll,
			`ALTER TABLE {t} RENAME TO {i}_plain`,
			`ALTER INDEX {t}_pkey RENAME TO {i}_plain_pkey`,
			`ALTER INDEX {t}_later RENAME TO {i}_plain_later`,
		},
		turn: `ALTER TABLE {t} ALTER part SET DEFAULT ` + part, turns: fmt.Sprintf(" / %d)", int64(every.Seconds())),
	}
	for i := range ringLeaves {
		r.leaves = append(r.leaves, fmt.Sprintf(`CREATE TABLE IF NOT EXISTS {t}_r%d PARTITION OF {t} FOR VALUES IN (%[1]d) %s`, i, churn))
	}
	return r
}

// keepsAll refuses to convert a table with parts that only its owner can make again, or with policies that hide rows.
const keepsAll = `DO $$ BEGIN
	IF EXISTS (SELECT FROM pg_class c WHERE c.oid = '{t}'::regclass AND (c.relrowsecurity OR EXISTS (SELECT FROM pg_trigger g WHERE g.tgrelid = c.oid AND NOT g.tgisinternal))) THEN
		RAISE EXCEPTION '{t} has row-level security, or triggers, which a table with partitions would not have: take them away, and make them again afterwards';
	END IF;
END $$`

// afterConvert moves rows and rights to the new table, and rights to its partitions. Numbers do not change.
var afterConvert = []string{
	`INSERT INTO {t} (queue, class, seq, key, op, body, written, attempts) SELECT queue, class, seq, key, op, body, written, attempts FROM {t}_plain`,
	`DO $$ DECLARE made record; r record; BEGIN
	FOR made IN SELECT c.oid::regclass AS name, c.relacl, c.relowner FROM pg_class c WHERE c.oid = '{t}'::regclass OR c.oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = '{t}'::regclass) LOOP
		FOR r IN SELECT DISTINCT CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END AS who FROM aclexplode(made.relacl) a WHERE a.grantee <> made.relowner LOOP
			EXECUTE format('REVOKE ALL ON %s FROM %s', made.name, r.who);
		END LOOP;
		FOR r IN SELECT a.privilege_type || old.part AS what, CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END AS who, CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END AS more
			FROM (SELECT relacl AS acl, '' AS part FROM pg_class WHERE oid = '{t}_plain'::regclass
				UNION ALL SELECT attacl, format(' (%I)', attname) FROM pg_attribute WHERE attrelid = '{t}_plain'::regclass) old CROSS JOIN LATERAL aclexplode(old.acl) a LOOP
			EXECUTE format('GRANT %s ON %s TO %s%s', r.what, made.name, r.who, r.more);
		END LOOP;
		EXECUTE format('ALTER TABLE %s OWNER TO %I', made.name, (SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = '{t}_plain'::regclass));
	END LOOP;
END $$`,
	`DROP TABLE {t}_plain`,
}

// ringPart selects the expression for the partition of a new row; a table without partitions has none.
const ringPart = `SELECT pg_get_expr(d.adbin, d.adrelid) FROM pg_attrdef d JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
	WHERE d.adrelid = '{t}'::regclass AND a.attname = 'part'`

// statements returns the statements of a version of the schema.
func (p plan) statements(version string) (all []string) {
	var r ring
	if p.data.ring != nil {
		r = p.data.ring(p.rotate)
	}
	version = strings.NewReplacer("{part}", r.column, "{with part}", r.key, "{storage}", r.storage).Replace(version)
	for _, s := range strings.Split(version, ";\n") {
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		if all = append(all, s); strings.Contains(s, r.storage) {
			all = append(all, r.leaves...)
		}
	}
	return all
}

// part returns the expression for the partition of a new row, "" for a table without partitions.
func (p plan) part(ctx context.Context, db Queryer) (part string, err error) {
	err = sqlkit.One(ctx, db, &part, p.text(ringPart))
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return part, err
}

// turn gives the table partitions if it has none.
func (p plan) turn(ctx context.Context, c *sql.Conn) error {
	if p.rotate == 0 {
		return nil
	}
	r := p.data.ring(p.rotate)
	part, err := p.part(ctx, c)
	if err != nil {
		return err
	}
	var statements []string
	switch {
	case part == "":
		// Only the statements of this table: other tables lock theirs, and a transaction that has locked one of those
		// may need ours.
		ours := slices.DeleteFunc(p.statements(p.data.schema[0]), func(s string) bool { return !strings.Contains(s, "{t} ") })
		statements = slices.Concat(r.convert, ours, afterConvert)
	case strings.Contains(part, r.turns): // starting programs need not wait for it
		return nil
	default:
		statements = []string{r.turn}
	}
	for _, s := range statements {
		if _, err := c.ExecContext(ctx, p.text(s)); err != nil {
			return fmt.Errorf("partitions: %w", err)
		}
	}
	return nil
}

// emptyRing truncates partitions that are not written to now or next, have no rows, and hold the space of deleted ones.
// It does nothing if there are no partitions.
func emptyRing(ctx context.Context, c *sql.Conn, text func(string) string) error {
	var part string
	if err := sqlkit.One(ctx, c, &part, text(ringPart)); errors.Is(err, sql.ErrNoRows) {
		return nil
	} else if err != nil {
		return err
	}
	rests := func(n any) string { return fmt.Sprintf(`(%v + %d - %s) %% %[2]d > 1`, n, ringLeaves, part) }
	var leaves []int
	err := sqlkit.Each(ctx, c, func(rows *sql.Rows) error {
		var n int
		err := rows.Scan(&n)
		leaves = append(leaves, n)
		return err
	}, text(fmt.Sprintf(`SELECT n FROM generate_series(0, %d) n WHERE %s AND pg_table_size(to_regclass('{t}_r' || n)) >= %d`, ringLeaves-1, rests("n"), ringRest)))
	if err != nil {
		return err
	}
	var errs []error
	for _, n := range leaves {
		leaf := fmt.Sprintf(`{t}_r%d`, n)
		if err := emptyLeaf(ctx, c, text, leaf, rests(n), 50*time.Millisecond); err != nil { // a writer uses one partition, not all
			errs = append(errs, fmt.Errorf("the partition %s: %w", text(leaf), err))
			if _, err := c.ExecContext(ctx, `ROLLBACK`); err != nil {
				break
			}
		}
	}
	return errors.Join(errs...)
}

// emptyLeaf checks whether a partition has rows, which may take long, and checks again under a lock that excludes
// writers, because a transaction may have written to it in between. During the second check relays wait, but writers do
// not: they write to another partition, and to the next one before this, for longer than the second check may take. If
// a transaction still writes to it, emptyLeaf soon gives up.
func emptyLeaf(ctx context.Context, c *sql.Conn, text func(string) string, leaf, rests string, soon time.Duration) error {
	rows := `EXISTS (SELECT 1 FROM ONLY ` + leaf + `)`
	var has bool
	began := time.Now()
	if err := sqlkit.One(ctx, c, &has, text(`SELECT CASE WHEN `+rows+` THEN TRUE ELSE NOT `+rests+` END`)); err != nil || has {
		return err
	}
	patience := min(max(time.Second, 2*time.Since(began)), minRotate-time.Second)
	for _, s := range []string{
		`BEGIN ISOLATION LEVEL READ COMMITTED`, fmt.Sprintf(`SET LOCAL lock_timeout = %d`, soon.Milliseconds()),
		fmt.Sprintf(`SET LOCAL statement_timeout = %d`, (soon + patience).Milliseconds()),
		`SET LOCAL row_security = off`, // an error if policies hide rows
		text(`LOCK TABLE ` + leaf + ` IN ACCESS EXCLUSIVE MODE`),
	} {
		if _, err := c.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	if err := sqlkit.One(ctx, c, &has, text(`SELECT `+rows)); err != nil {
		return err
	}
	end := `ROLLBACK`
	if !has {
		if _, err := c.ExecContext(ctx, text(`TRUNCATE `+leaf)); err != nil {
			return err
		}
		end = `COMMIT`
	}
	_, err := c.ExecContext(ctx, end)
	return err
}
