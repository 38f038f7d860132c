package deadletter

import (
	"strings"
	"time"
)

// A file, its journal, its rewrite and its mark share a stem, the time of creation in UTC, so that names sort by time.
const (
	stemPrefix = "letters-"
	stemTime   = "20060102T150405.000000000Z"

	lettersExt = ".jsonl"
	journalExt = ".done"
	rewriteExt = ".tmp"
	markExt    = ".synced" // a disk.Mark

	lockName = "lock"
)

// stemOf splits a file name into stem and extension. ok is false for other files, which are left alone.
func stemOf(name string) (stem, ext string, ok bool) {
	for _, ext := range []string{lettersExt, journalExt, rewriteExt, markExt} {
		if stem, found := strings.CutSuffix(name, ext); found {
			_, err := stemCreated(stem)
			return stem, ext, err == nil
		}
	}
	return "", "", false
}

// stemCreated returns the time of a stem.
func stemCreated(stem string) (time.Time, error) {
	digits := strings.TrimPrefix(stem, stemPrefix)
	created, err := time.Parse(stemTime, digits)
	if err == nil && stemAt(created) != stem {
		// The prefix is missing, or the fraction has another length, which time.Parse accepts: such a name would not sort.
		err = &time.ParseError{Layout: stemTime, Value: digits, Message: ": not as it is written"}
	}
	return created, err
}

func stemAt(t time.Time) string { return stemPrefix + t.UTC().Format(stemTime) }

// stemAfter returns the stem of a file created now. It is greater than newest, a stem or "", even if the clock has gone
// back.
func stemAfter(newest string, now time.Time) string {
	if stem := stemAt(now); stem > newest {
		return stem
	}
	last, err := stemCreated(newest)
	if err != nil { // newest is always a stem that was parsed or made here
		panic(err)
	}
	return stemAt(last.Add(1))
}
