// Package relay has the rules shared by the two relays of this module: the feed of a sender with a queue
// (bufferedsender/feed.go) and the Relay of an outbox (bufferedsender/outbox). Both take leased records, send them, and
// settle them by their outcomes. The functions do no I/O and get the time as an argument. Only Lease is safe for
// concurrent use, because senders read it.
//
// DESIGN.md describes the state after a crash at each line, for both.
package relay
