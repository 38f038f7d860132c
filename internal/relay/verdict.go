package relay

// Verdict is the consequence of an outcome for a record. If a record has several actions, the highest verdict counts.
type Verdict uint8

// The verdicts, and how a record is settled by each.
const (
	Confirmed Verdict = iota // done: deleted from the back end
	Returned                 // unsent: given back as it was
	Failed                   // sent, and may succeed later: waits
	Refused                  // never succeeds: a dead letter, or parked
)

// Settle returns how to end the lease of a key whose records, in order, have these verdicts: how many of the first are
// confirmed, and the verdict of the next one, which decides. Records behind it wait.
func Settle(records []Verdict) (confirmed int, v Verdict) {
	for i, v := range records {
		if v != Confirmed {
			return i, v
		}
	}
	return len(records), Confirmed
}
