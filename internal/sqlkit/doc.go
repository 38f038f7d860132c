// Package sqlkit is shared by the stores in databases: the outbox, the store of a rebuild and the state store of
// repair. It only needs database/sql, and works with any driver.
//
// A [Dialect] describes the differences between kinds of databases, as data:
//
//   - the name, which is also the first word of the server's version text;
//   - the beginning of a transaction that writes from its first statement, and in which each statement sees everything
//     committed before it, whatever the default of the session is;
//   - the clock of the database, because the clocks of machines differ and leases must be compared by one clock;
//   - a lock for which only migrating processes wait, because on PostgreSQL two of them that create the same table
//     fail, even with IF NOT EXISTS;
//   - the names missing from the catalog, queried without a lock and without rights to the tables;
//   - a way to pass a list as one argument, which database/sql lacks.
//
// Statements are written once, with {t} for the table, {now} for the clock, {server: …} for parts that only servers
// have, such as locks of rows, and ?1, ?2, … for arguments. So a dialect needs numbered arguments, upserts and
// RETURNING. Statements that must be tuned for each database stay with their store, in one file for each dialect.
//
// [Classify] returns what a caller can do about an error of any driver. It looks at the SQLSTATE first, then at the
// codes of SQLite, then at its messages, because two of its three drivers have no codes that can be read without
// importing them. [Retry] repeats work that the database has undone as a whole. It never repeats a statement whose
// outcome is unknown, such as one whose connection broke.
//
// A third dialect needs a file here with an entry in All, a database in the tests, and a file in each store. The tests
// of this package and of the stores iterate over All, and name the features that a dialect lacks.
package sqlkit
