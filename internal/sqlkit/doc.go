// Package sqlkit is what the stores in databases have in common: the outbox, the store of a rebuild and the state store
// of repair. It needs database/sql alone, and works with any driver.
//
// A [Dialect] is the difference between kinds of databases, as data. A dialect gives its name, which is also the
// first word of what the server calls itself; the beginning of a transaction that writes from its first statement and
// sees in each statement what was committed before it, whatever the default of the session is; the database's clock,
// because the clocks of machines differ and leases are compared by one clock; a lock that only migrating processes
// wait for, since two that create the same table at once fail on PostgreSQL, IF NOT EXISTS or not; the names that are
// missing from the catalog, asked without a lock and without rights to the tables; and a way to pass a list as one
// argument, since database/sql has none. Statements are written once, with {t} for the table, {now} for the clock,
// {server: …} for what only servers have, such as locks of rows, and ?1, ?2, … for arguments. A dialect therefore
// needs numbered arguments, upserts and RETURNING. What a statement needs to be fast differs more than the databases
// do; such statements stay with their store, in one file for each dialect.
//
// [Classify] is the other half: it says of an error of any driver what the caller can do. SQLSTATEs come first, then
// the codes of SQLite, then its words, because two of its three drivers have no codes that can be read without them.
// [Retry] repeats what the database has undone as a whole. It never repeats a statement whose outcome is unknown, such
// as one whose connection broke.
//
// A third dialect is a file here, with a row in All and a database in the tests, and a file in each store. The tests
// of this package and of the stores go through All, and name the parts that a dialect does not have.
package sqlkit
