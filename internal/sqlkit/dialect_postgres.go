package sqlkit

import (
	"fmt"
	"strings"
)

// PostgreSQL is version 12 or newer.
var PostgreSQL = Dialect{
	Name:    "postgresql",
	Version: `SELECT version()`,
	// The system identifier is that of a cluster and its replicas, whatever their addresses.
	Database: `SELECT current_database() || ' ' || system_identifier FROM pg_control_system()`,
	Now:      `(extract(epoch FROM clock_timestamp()) * 1000)::bigint`,
	Dollar:   true,
	Begin:    `BEGIN ISOLATION LEVEL READ COMMITTED`,
	// Two migrating processes wait for each other, and no writer waits behind them, so this wait may be longer than
	// that for a table.
	Alone: `DO $$ DECLARE patience text := current_setting('lock_timeout'); BEGIN
		` + Patience("30s") + `
		PERFORM pg_advisory_xact_lock(hashtextextended('{t}', {lock}));
		` + Patience("{patience}") + `
	END $$`,
	Server:  true,
	Schemas: true,
	Missing: `SELECT n FROM unnest(?1::text::text[]) AS n WHERE to_regclass(n) IS NULL`,
	In:      func(argument, kind string) string { return `= ANY(` + argument + `::text::` + kind + `[])` },
	Rows: func(first int, name string, columns ...[2]string) string {
		var args, names []string
		for i, c := range columns {
			args, names = append(args, fmt.Sprintf(`?%d::text::%s[]`, first+i, c[1])), append(names, c[0])
		}
		return fmt.Sprintf(`unnest(%s) WITH ORDINALITY AS %s(%s, n)`, strings.Join(args, ", "), name, strings.Join(names, ", "))
	},
	Values: arrays,
}

// Patience returns a PL/pgSQL statement that bounds the wait for locks, in a session without its own bound (the
// variable patience is '0').
func Patience(limit string) string {
	return `PERFORM set_config('lock_timeout', '` + limit + `', true) WHERE patience = '0';`
}
