package relay

// Verdict is what follows for a record from the outcomes of its actions. Of several the highest counts.
type Verdict uint8

// Verdicts, and how a record is settled by them.
const (
	Confirmed Verdict = iota // done: deleted from the back end
	Returned                 // unsent: given back as it was
	Failed                   // sent, and may succeed later: waits
	Refused                  // never succeeds: a dead letter, or parked
)

// Settle says how the lease of a key ends whose records have these verdicts, in their order: so many of the first are
// confirmed, and the first of the others decides. Records behind it wait behind it.
func Settle(records []Verdict) (confirmed int, v Verdict) {
	for i, v := range records {
		if v != Confirmed {
			return i, v
		}
	}
	return len(records), Confirmed
}
