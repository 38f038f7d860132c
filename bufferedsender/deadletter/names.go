package deadletter

import (
	"strings"
	"time"
)

// A file of letters and what belongs to it share a stem, which is the time of
// its creation in UTC: names sort by time.
const (
	stemPrefix = "letters-"
	stemTime   = "20060102T150405.000000000Z"

	lettersExt = ".jsonl"
	journalExt = ".done"
	rewriteExt = ".tmp"

	lockName = "lock"
)

// stemOf splits the name of a file into stem and extension. ok is false for
// files that are none of ours; they are left alone.
func stemOf(name string) (stem, ext string, ok bool) {
	for _, ext := range []string{lettersExt, journalExt, rewriteExt} {
		if stem, found := strings.CutSuffix(name, ext); found {
			_, err := stemCreated(stem)
			return stem, ext, err == nil
		}
	}
	return "", "", false
}

// stemCreated returns the time that a stem stands for.
func stemCreated(stem string) (time.Time, error) {
	digits := strings.TrimPrefix(stem, stemPrefix)
	created, err := time.Parse(stemTime, digits)
	if err == nil && stemAt(created) != stem {
		// The prefix is missing, or the fraction has another length, which time.Parse takes: it would not sort.
		err = &time.ParseError{Layout: stemTime, Value: digits, Message: ": not as it is written"}
	}
	return created, err
}

func stemAt(t time.Time) string { return stemPrefix + t.UTC().Format(stemTime) }

// stemAfter returns the stem of a file created now, greater than newest, which
// is a stem or "". It is greater even if the clock has gone back.
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
