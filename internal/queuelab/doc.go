// Package queuelab tests back ends of package queue beyond the suite of queuetest. Check compares a back end with a
// naive model call by call, in random schedules; Model is that model.
//
// It is separate from queuetest, which users may import, because a back end only has to pass the suite.
package queuelab
