// Package relay has the rules that the two relays of this module share: the feed of a sender with a queue
// (bufferedsender/feed.go) and the Relay of an outbox (bufferedsender/outbox). Both take leased records, send them, and
// settle them by their outcomes. The parts are pure: they take the time as an argument and do no I/O. Only Lease is
// safe for concurrent use, because senders read it.
//
// DESIGN.md has the state after a crash at each line, for both.
package relay
