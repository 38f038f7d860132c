// Package bound says how much of an index may be deleted or overwritten without an operator who has asked for it: by a
// repair, by DeleteWhere, and by a rebuild whose new index has fewer documents. The page for users is
// bufferedsender/repair/GUARDS.md.
package bound

import "time"

// The bound, of an index and a time.
const (
	Share  = 0.05           // of the documents, one at least
	Keys   = 10_000         // at most, unless a share is given
	Within = 24 * time.Hour // of all that is done to the index
)

// Most returns how many of rows documents that is. A share of 0 is the default, Share and no more than Keys.
func Most(rows int64, share float64) int64 {
	if share == 0 {
		return min(Most(rows, Share), Keys)
	}
	return max(1, int64(share*float64(rows)+1e-9))
}
