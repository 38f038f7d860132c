package sqlkit

import (
	"fmt"
	"strings"
)

// SQLite is version 3.38 or newer.
var SQLite = Dialect{
	Name:     "sqlite",
	Version:  `SELECT 'SQLite ' || sqlite_version()`,
	Database: `SELECT file FROM pragma_database_list WHERE name = 'main'`, // "" in memory
	Now:      `CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)`,
	// The transaction writes from the beginning: one that begins with a read fails at its first write, however long the
	// busy time-out is.
	Begin: `BEGIN IMMEDIATE`,
	Missing: `SELECT value ->> 0 FROM json_each(?1) WHERE NOT EXISTS (SELECT 1 FROM sqlite_master WHERE type IN ('table', 'index')
		AND name = CASE WHEN value ->> 0 LIKE 'main.%' THEN substr(value ->> 0, 6) ELSE value ->> 0 END COLLATE NOCASE)`,
	MissingHint: " (a database in memory is another one for each connection: use a file)",
	In:          func(argument, _ string) string { return `IN (SELECT value ->> 0 FROM json_each(` + argument + `))` },
	Rows: func(first int, name string, columns ...[2]string) string {
		var of []string
		for i, c := range columns {
			of = append(of, fmt.Sprintf(`value ->> %d AS %s`, i, c[0]))
		}
		return fmt.Sprintf(`(SELECT %s, key AS n FROM json_each(?%d)) AS %s`, strings.Join(of, ", "), first, name)
	},
	Values: jsonRecords,
}
