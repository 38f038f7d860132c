// Package outbox is for programs that keep their truth in a SQL database and want a search
// index to follow it: what a transaction commits reaches the index, what it rolls back never
// does. It works on PostgreSQL and SQLite, through database/sql and any driver.
package outbox
