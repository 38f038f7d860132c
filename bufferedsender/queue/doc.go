// Package queue is for those who keep what a buffered sender has accepted where the end of
// the process does not reach it, and for those who write another place to keep it: it is
// the contract between a sender and its durable queue.
// The package is stable.
//
// Programs that only use a queue need filequeue, redisqueue or memqueue, and
// bufferedsender.Options.Queue. Package queuetest has the suite that each of them passes.
//
// # What a queue does
//
// It keeps records by key, and folds: a record that replaces the whole document, an upload,
// a delete or one that only says that the key has changed, takes the place of what waits
// for its key. So a queue grows with the number of keys that are behind, never with the
// number of changes, and the further behind the sender is the less it has to send. Merges
// do not replace each other: the adder folds them, in its call and in what waits.
//
// Holders reserve keys, oldest first, each reservation with a random token, and settle them
// when they know the outcomes. No other holder gets a key meanwhile; what is appended to
// it waits. A holder stopped for longer than its lease loses the key: what comes
// with its token changes nothing any more, and is counted.
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
// A key has one place in the order of all keys: that of its oldest change that is not
// settled, by class first, then by time, then by arrival. Replacing keeps the place. A key
// that is changed while it is leased waits with the place of the first of these changes.
// So a key that changes all the time neither starves others nor waits for ever itself.
package queue
