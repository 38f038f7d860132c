// Package queue is the contract between a buffered sender and its durable queue, which keeps accepted documents beyond
// the end of the process. It is for authors of another back end and for tools that inspect a queue. The package is
// stable.
//
// Programs that only use a queue need filequeue, redisqueue or memqueue, and bufferedsender.Options.Queue. Package
// queuetest has the test suite for back ends.
//
// # What a queue does
//
// A queue keeps records by key and folds them: a record that replaces the whole document (an upload, a delete, or a
// record that only states that the key has changed) replaces everything that waits for its key. So a queue grows with
// the number of keys that are behind, not with the number of changes. Merges do not replace each other; the process
// that adds them folds them, within its call and with records that already wait.
//
// Holders reserve keys, oldest first. Each reservation has a random token. When the outcomes are known, the holder
// settles the keys. A leased key is not given to another holder, and new records of it wait. A holder stopped for
// longer than its lease loses the key: calls with the old token have no effect and are counted as stale.
//
//	           Append                     Reserve                   Settle: Commit
//	(nothing) ────────▶ waiting (pile) ──────────────▶ leased ──────────────────────▶ (nothing),
//	                      ▲   ▲                        │   │                          or what waits
//	                      │   └── Release, expiry ─────┘   │ Settle: Park,
//	    an upload, a      │                                │ or died with three holders
//	    delete, a release └───────────── parked ◀──────────┘
//
// # Order
//
// Each key has one place in the order of all keys: that of its oldest unsettled change. Places are ordered by class,
// then time, then arrival. Replacing a record keeps the place. A key that changes while it is leased waits with the
// place of the first such change. So a key that changes all the time neither starves other keys nor is starved.
package queue
