// Package queuelab tries back ends of package queue beyond the suite of queuetest: Check compares one with a naive
// model call by call, in random schedules, and Model says in code what a queue does.
//
// It is apart from queuetest, which users may import, because a back end has to pass the suite only.
package queuelab
