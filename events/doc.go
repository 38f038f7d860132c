// Package events reports the outcome of each action that a program gives to a bufferedsender.BufferedSender, for
// checkpoints, acknowledgements, metrics and alerts.
// The package is stable.
//
// Set the fields of [Handlers] that you need; the others cost nothing. The order of events of one action is always
//
//	ActionAdded → ActionSent (once per request that carries it) → ActionCompleted or ActionFailed
//
// Each accepted action has exactly one of the last two. An action that fails without being sent, because the sender
// closes, has no ActionSent. ActionAdded runs on the adding goroutine, before the action is accepted. All other events
// run on the sender's publisher goroutine, one at a time, without locks: a slow handler slows the sender down, which is
// the back-pressure that a checkpoint needs. A panic in a handler is recovered, logged and counted. In ActionAdded it
// refuses the action, as an error does; in other handlers it changes nothing. Flush and Close inside a handler return
// bufferedsender.ErrInCallback.
//
// Three functions build handlers. [Multi] calls several of them in order. [Async] runs slow ones on other goroutines,
// behind a bounded queue. [Track] moves a [LowWatermark], the position up to which everything is settled, for programs
// that read from Kafka, a replication slot or a file and must not commit too much. To combine them, place handlers that
// must finish before the mark passes an action in front of Track, or in its Skip, and put all of them into one Async.
package events
