// Package queuehistory tests whether a back end of package queue is linearizable. Goroutines use a queue concurrently;
// the package records each call with its answer and times, and searches for an order of all calls in which
// queuelab.Model gives the same answers. For schedules of sequential calls see queuelab.Check.
//
// It is separate from queuetest, which users may import, because the search needs github.com/anishathalye/porcupine.
package queuehistory
