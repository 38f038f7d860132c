// Package events is for programs that want to know what became of the actions
// they gave to a bufferedsender.BufferedSender: to checkpoint, to acknowledge a
// queue, to count, to alarm.
// The package is stable.
//
// Fill in the fields of [Handlers] that you need; the others cost nothing. For
// one action the order is always
//
//	ActionAdded → ActionSent (once per request that carries it) → ActionCompleted or ActionFailed
//
// and an accepted action gets exactly one of the last two; one that fails
// without ever being sent, because the sender closes, has no ActionSent. ActionAdded runs on
// the goroutine that adds, before the action is accepted. All others run on the
// sender's one publisher goroutine, one at a time, with no lock held: a slow
// handler slows the sender down, which is the back-pressure that a checkpoint
// needs. A panic in a handler is recovered, logged and counted. In ActionAdded it
// refuses the action, as an error does; anywhere else it changes nothing. Flush and Close from inside a handler return
// bufferedsender.ErrInCallback.
//
// Three things are made of handlers here. [Multi] calls several of them. [Async]
// runs them on goroutines of their own, behind a bounded queue, for those that
// are slow. [Track] moves a [LowWatermark], the position up to which all is
// settled, for those who read from Kafka, a replication slot or a file and must
// not commit too much. Together they go like this: what must be done before the
// mark may pass an action stands before Track or is its Skip, and all of it in
// one Async.
package events
