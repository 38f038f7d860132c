// Package bound limits how much of an index may be deleted or overwritten without an operator's request: by a repair,
// by DeleteWhere, and by a rebuild whose new index has fewer documents. bufferedsender/repair/GUARDS.md explains it
// to users.
package bound

import "time"

// The default limits.
const (
	Share  = 0.05           // of the documents, but at least one
	Keys   = 10_000         // upper limit, unless a share is given
	Within = 24 * time.Hour // the period in which all deletes and overwrites of the index count
)

// Most returns the limit for an index with rows documents. A share of 0 means Share, but not more than Keys.
func Most(rows int64, share float64) int64 {
	if share == 0 {
		return min(Most(rows, Share), Keys)
	}
	return max(1, int64(share*float64(rows)+1e-9))
}
