package sqlkit

import (
	"errors"
	"slices"
	"strings"
)

// Class groups errors of databases by what a caller can do about them.
type Class uint8

// The classes.
const (
	Other       Class = iota // unknown
	Undone                   // the database has undone the transaction for a temporary reason
	Duplicate                // another process has just created or inserted the same object
	Busy                     // other connections use the file, and the busy time-out is over
	LockTimeout              // a lock was not granted within the lock_timeout
	NoTable                  // a table is missing
	OtherTable               // a table has other columns than expected
	Denied                   // the role lacks rights, or the file is read-only
	Standby                  // the server is read-only
	Full                     // the disk is full
)

// String returns the class as a word for logs.
func (c Class) String() string {
	return [...]string{"other", "undone", "duplicate", "busy", "lock timeout", "no table", "other table", "denied", "standby", "full"}[c]
}

// kinds assigns classes to errors of databases. states are SQLSTATEs or their prefixes; codes are primary result codes
// of SQLite; words are parts of its messages, which all of its drivers pass on. The first match counts.
var kinds = []struct {
	class  Class
	states []string
	codes  []int
	words  []string
}{
	{class: Undone, states: []string{"40001", "40P01"}},
	{class: Duplicate, states: []string{"23505", "42P07", "42710"}, words: []string{"UNIQUE constraint failed"}},
	{class: Busy, codes: []int{5, 6}, words: []string{"database is locked", "database table is locked", "database schema is locked"}},
	{class: LockTimeout, states: []string{"55P03"}},
	{class: NoTable, states: []string{"42P01"}, words: []string{"no such table: "}},
	{class: Denied, states: []string{"42501"}, codes: []int{3, 8, 23}, words: []string{"attempt to write a readonly database", "access permission denied"}},
	{class: OtherTable, states: []string{"42"}, words: []string{"no such column", "has no column named"}},
	{class: Standby, states: []string{"25006"}},
	{class: Full, states: []string{"53100"}, codes: []int{13}, words: []string{"database or disk is full"}},
}

// Classify returns the class of an error of any driver.
func Classify(err error) Class {
	if err == nil {
		return Other
	}
	state, code, words := State(err), -1, err.Error()
	if coded := codedError(nil); state == "" && errors.As(err, &coded) {
		code = coded.Code() & 0xff
	}
	for _, k := range kinds {
		says := func(all []string, has func(s, of string) bool, in string) bool {
			return slices.ContainsFunc(all, func(s string) bool { return has(in, s) })
		}
		if state != "" && says(k.states, strings.HasPrefix, state) ||
			state == "" && (slices.Contains(k.codes, code) || says(k.words, strings.Contains, words)) {
			return k.class
		}
	}
	return Other
}

// Advice returns what to do about an error, as a prefix for it, "" if nothing is known.
func Advice(err error) string {
	switch Classify(err) {
	case Busy:
		return "the file stayed locked; end the transaction that writes: "
	case Denied:
		return "no rights; grant them to the role, or to the file: "
	case Standby:
		return "the server can only be read; connect to the primary: "
	case Full:
		return "the disk of the database is full; free some of it: "
	}
	return ""
}

// codedError is an error of an SQLite driver, stateError one of a PostgreSQL driver.
type (
	codedError interface{ Code() int }
	stateError interface{ SQLState() string }
)

// State returns the SQLSTATE of an error of a driver, "" if it has none.
func State(err error) string {
	if known := stateError(nil); errors.As(err, &known) {
		return known.SQLState()
	}
	return ""
}
