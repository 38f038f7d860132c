// Package queuehistory is for the tests of those who write a back end of package queue: it
// has goroutines use a queue at the same time, records what each was answered and when, and
// looks for an order of all calls in which queuelab.Model would have answered the same:
// whether the queue is linearizable. Schedules that make one call after the other are the business of
// queuelab.Check.
//
// It is apart from queuetest, which users may import, because the search is that of
// github.com/anishathalye/porcupine.
package queuehistory
