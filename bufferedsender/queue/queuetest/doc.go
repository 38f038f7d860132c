// Package queuetest has the test suite for back ends of package queue, see Run. The package is experimental: its API
// may change in any release.
//
// It imports the standard library and the contract only, so that a back end outside this
// module can use it:
//
//	func TestSuite(t *testing.T) {
//		queuetest.Run(t, queuetest.Backend{
//			Run: queuetest.Bubble(func(t *testing.T, c queuetest.Config) *queuetest.Harness {
//				return &queuetest.Harness{Queue: myqueue.New(c.MaxKeys, c.MaxBytes)}
//			}),
//			Limited: true,
//		})
//	}
//
// ICK.md lists where the suite differs from the tests of Redis::Ick, whose design the queue follows, and what it tests
// in addition.
//
// No test waits for a lease in real time: Harness.Sleep advances the time.
//
// A Backend declares its capabilities. Tests for a missing capability do not run and are not listed, so no test is
// skipped.
package queuetest
